#include "medley/report/charts.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "report/figure_frame.h"
#include "report/theory_figures.h"

namespace medley::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

int brightness(Rgb c) { return 2 * c.r + 5 * c.g + c.b; }

std::int64_t pixels_of(const data::Image& image, Rgb c) {
  std::int64_t pixels = 0;
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
    pixels += image.rgb[i] == c.r && image.rgb[i + 1] == c.g && image.rgb[i + 2] == c.b ? 1 : 0;
  }
  return pixels;
}

TEST(Chart, ColorsGrowBrighter) {
  for (int i = 1; i <= 20; ++i) {
    EXPECT_GT(brightness(scale_color(i / 20.0)), brightness(scale_color((i - 1) / 20.0)));
  }
  EXPECT_EQ(scale_color(-1), scale_color(0));
  EXPECT_EQ(scale_color(2), scale_color(1));
}

TEST(Chart, TicksAreRoundNumbersWithin) {
  EXPECT_THAT(ticks(0, 1, 5), ElementsAre(0, 0.2, testing::DoubleEq(0.4), testing::DoubleEq(0.6),
                                          testing::DoubleEq(0.8), 1));
  EXPECT_THAT(ticks(0, 100, 4), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_EQ(ticks(3, 3, 4).size(), 1u);
}

TEST(Chart, MarksOfAnAxisDoNotOverlap) {
  EXPECT_THAT(axis_marks(64, 3, 16), ElementsAre(0, 16, 32, 48, 63));
  EXPECT_THAT(axis_marks(1, 204, 16), ElementsAre(0));
  EXPECT_THAT(axis_marks(2, 102, 16), ElementsAre(0, 1));
  EXPECT_THAT(axis_marks(20, 1, 16), ElementsAre(0, 19));
  EXPECT_THAT(axis_marks(10, 1, 16), ElementsAre(0));
  for (std::int32_t n = 1; n <= 300; ++n) {
    const std::vector<std::int32_t> marks = axis_marks(n, std::max(1, 204 / n), 16);
    for (std::size_t i = 1; i < marks.size(); ++i) {
      EXPECT_GE((marks[i] - marks[i - 1]) * std::max(1, 204 / n), 16) << n;
    }
  }
}

TEST(Chart, BarsOfFlatMapsHaveRoomForTheirTicks) {
  HeatMapFigure flat;
  flat.panels.push_back({"p", "n", {2, 200}, std::vector<double>(400)});
  EXPECT_GT(draw_figure(flat).size.height, 190);
}

TEST(Chart, MapsShowTheirValues) {
  HeatMapFigure figure;
  figure.title = "t";
  figure.panels.push_back({"p", "n", {1, 2}, {0, 1}});
  const data::Image image = draw_figure(figure);
  EXPECT_GT(pixels_of(image, scale_color(0)), 10000);  // cells are 102 pixels wide
  EXPECT_GT(pixels_of(image, scale_color(1)), 10000);
}

TEST(Chart, WholeNumbersHaveNoMarksBetweenThem) {
  constexpr Rgb kGrid = {226, 229, 233};
  LineFigure figure{"t", "", "x", "y", {{"p", {{"c", {200, 0, 0}, {{1, 0}, {2, 1}}}}}}};
  const std::int64_t all = pixels_of(draw_figure(figure), kGrid);
  figure.whole_x = true;
  EXPECT_LT(pixels_of(draw_figure(figure), kGrid), all - 3 * 200);  // 200: most of a line's height
  EXPECT_GT(pixels_of(draw_figure(figure), kGrid), 0);
}

TEST(Chart, ASinglePointIsSeen) {
  constexpr Rgb kRed = {200, 0, 0};
  const auto red = [&](const std::vector<Point>& points) {
    const Curve gray{"g", {90, 90, 90}, {{0, 0}, {2, 2}}};
    return pixels_of(
        draw_figure(LineFigure{"t", "", "x", "y", {{"p", {gray, {"c", kRed, points}}}}}), kRed);
  };
  EXPECT_GT(red({{1, 0.5}}), red({}) + 10);
}

TEST(Chart, LegendStandsWhereCurvesDoNot) {
  constexpr Rgb kRed = {200, 0, 0};
  constexpr Rgb kBlue = {0, 0, 200};
  // Rows from the highest to the lowest red pixel, of a curve and of its place in the legend, in
  // the left or the right quarter of a figure.
  const auto rows = [&](bool right, const std::vector<Point>& red, const std::vector<Point>& blue) {
    const data::Image image =
        draw_figure(LineFigure{"t", "", "x", "y", {{"p", {{"c", kRed, red}, {"d", kBlue, blue}}}}});
    const auto [height, width] = image.size;
    const std::int32_t begin = right ? width * 3 / 4 : 0;
    std::int32_t highest = height;
    std::int32_t lowest = 0;
    for (std::int32_t y = 0; y < height; ++y) {
      for (std::int32_t x = begin; x < begin + width / 4; ++x) {
        const std::uint8_t* c = &image.rgb[3 * (static_cast<std::size_t>(y) * width + x)];
        if (c[0] != kRed.r || c[1] != kRed.g || c[2] != kRed.b) continue;
        highest = std::min(highest, y);
        lowest = std::max(lowest, y);
      }
    }
    return lowest - highest;
  };
  const std::vector<Point> up = {{0, 0.5}, {5, 0.5}, {6, 1}, {10, 1}};
  const std::vector<Point> down = {{0, 0.4}, {5, 0.4}, {6, 0}, {10, 0}};
  // On the right, in the other half than the curve.
  EXPECT_GT(rows(true, up, {}), 140);
  EXPECT_GT(rows(true, down, {}), 140);
  // On the left where the right is taken.
  EXPECT_LT(rows(true, up, down), 20);
  EXPECT_GT(rows(false, up, down), 80);
}

TEST(Chart, LegendsGetRoomWhereCurvesAreEverywhere) {
  constexpr Rgb kRed = {200, 0, 0};
  constexpr Rgb kBlue = {0, 0, 200};
  const std::vector<Point> high = {{0, 1}, {10, 1}};
  const std::vector<Point> low = {{0, 0}, {10, 0}};
  const data::Image image =
      draw_figure(LineFigure{"t", "", "x", "y", {{"p", {{"c", kRed, high}, {"d", kBlue, low}}}}});
  const auto most_in_a_row = [&](Rgb color) {
    const auto [height, width] = image.size;
    std::int64_t most = 0;
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
      const auto row = image.rgb.begin() + static_cast<std::ptrdiff_t>(3 * y * width);
      most = std::max(most, pixels_of({{1, width}, {row, row + 3 * width}}, color));
    }
    return most;
  };
  EXPECT_GE(most_in_a_row(kRed), 418);  // of 420 pixels
  EXPECT_GE(most_in_a_row(kBlue), 418);
}

TEST(Chart, RefusesEmptyFigures) {
  EXPECT_THAT([] { (void)draw_figure(HeatMapFigure{}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("at least one panel")));
  EXPECT_THAT([] { (void)draw_figure(LineFigure{}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("at least one panel")));
  EXPECT_THAT([] { (void)draw_figure(PictureFigure{}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("at least one row")));
  HeatMapFigure wrong;
  wrong.panels.push_back({"p", "", {2, 2}, {1}});
  EXPECT_THAT([&] { (void)draw_figure(wrong); },
              ThrowsMessage<InvalidArgument>(HasSubstr("needs 4 values, got 1")));
}

TEST(TheoryFigures, AreDeterministicAndFull) {
  EXPECT_EQ(sample_figure(), sample_figure());
  EXPECT_GT(coefficient_figure(true).size.width, 800);
  EXPECT_GT(negative_lam_figure().size.width, 1000);
}

}  // namespace
}  // namespace medley::report
