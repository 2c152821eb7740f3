#include "medley/report/chart.h"

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "medley/report/theory_figures.h"

namespace medley {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

int brightness(Rgb c) { return 2 * c.r + 5 * c.g + c.b; }

TEST(Chart, ColoursGrowBrighter) {
  for (int i = 1; i <= 20; ++i) {
    EXPECT_GT(brightness(scale_colour(i / 20.0)), brightness(scale_colour((i - 1) / 20.0)));
  }
  EXPECT_EQ(scale_colour(-1), scale_colour(0));
  EXPECT_EQ(scale_colour(2), scale_colour(1));
}

TEST(Chart, TicksAreRoundNumbersWithin) {
  EXPECT_THAT(ticks(0, 1, 5), ElementsAre(0, 0.2, testing::DoubleEq(0.4), testing::DoubleEq(0.6),
                                          testing::DoubleEq(0.8), 1));
  EXPECT_THAT(ticks(0, 100, 4), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_EQ(ticks(3, 3, 4).size(), 1u);
}

TEST(Chart, MapsShowTheirValues) {
  HeatMapFigure figure;
  figure.title = "t";
  figure.panels.push_back({"p", "n", {1, 2}, {0, 1}});
  const Image image = draw_figure(figure);
  const auto shows = [&](Rgb c) {
    std::int64_t pixels = 0;
    for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
      pixels += image.rgb[i] == c.r && image.rgb[i + 1] == c.g && image.rgb[i + 2] == c.b ? 1 : 0;
    }
    return pixels;
  };
  EXPECT_GT(shows(scale_colour(0)), 10000);  // cells are 102 pixels wide
  EXPECT_GT(shows(scale_colour(1)), 10000);
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
}  // namespace medley
