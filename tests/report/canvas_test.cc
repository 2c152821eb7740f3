#include "report/canvas.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "medley/data/dataset.h"
#include "medley/error.h"

namespace medley::report {
namespace {

constexpr Rgb kBlack = {0, 0, 0};
constexpr Rgb kRed = {255, 0, 0};

Rgb pixel(const Canvas& canvas, std::int32_t x, std::int32_t y) {
  const auto at = static_cast<std::size_t>(3 * (std::int64_t{y} * canvas.size().width + x));
  const auto& rgb = canvas.image().rgb;
  return {rgb[at], rgb[at + 1], rgb[at + 2]};
}

/// Darkness of a white canvas, in black pixels.
double ink(const Canvas& canvas) {
  double sum = 0;
  for (const std::uint8_t value : canvas.image().rgb) sum += 255 - value;
  return sum / (3 * 255);
}

TEST(Canvas, BeginsWithItsBackground) {
  const Canvas canvas({2, 3}, {1, 2, 3});
  EXPECT_EQ(canvas.image().rgb,
            (std::vector<std::uint8_t>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}));
}

TEST(Canvas, RefusesImpossibleSizes) {
  EXPECT_THROW(Canvas({0, 5}), InvalidArgument);
  EXPECT_THROW(Canvas({5, -1}), InvalidArgument);
  EXPECT_THROW(Canvas({60000, 60000}), InvalidArgument);
}

TEST(Canvas, FillCoversExactlyTheRectangle) {
  Canvas canvas({10, 12});
  canvas.fill({3, 2, 4, 5}, kBlack);
  EXPECT_DOUBLE_EQ(ink(canvas), 20);
  EXPECT_EQ(pixel(canvas, 3, 2), kBlack);
  EXPECT_EQ(pixel(canvas, 6, 6), kBlack);
  EXPECT_EQ(pixel(canvas, 7, 6), (Rgb{255, 255, 255}));
}

TEST(Canvas, FillBlendsByOpacity) {
  Canvas canvas({1, 1}, {100, 100, 100});
  canvas.fill({0, 0, 1, 1}, {200, 100, 0}, 0.25);
  EXPECT_EQ(pixel(canvas, 0, 0), (Rgb{125, 100, 75}));
}

TEST(Canvas, ClipLimitsDrawing) {
  Canvas canvas({10, 10});
  canvas.clip({2, 2, 3, 3});
  canvas.fill({0, 0, 10, 10}, kBlack);
  canvas.line({0, 9.5}, {10, 9.5}, kBlack);
  canvas.text(0, 9, "X");
  canvas.draw(0, 0, data::Image{{10, 10}, std::vector<std::uint8_t>(300, 0)});
  EXPECT_DOUBLE_EQ(ink(canvas), 9);
  canvas.unclip();
  canvas.fill({0, 0, 1, 1}, kBlack);
  EXPECT_DOUBLE_EQ(ink(canvas), 10);
}

TEST(Canvas, FrameIsTheEdgeOfItsRectangle) {
  Canvas canvas({10, 10});
  canvas.frame({1, 1, 6, 5}, kBlack);
  EXPECT_DOUBLE_EQ(ink(canvas), 6 * 5 - 4 * 3);
  Canvas full({4, 4});
  full.frame({0, 0, 4, 4}, kBlack, 99);
  EXPECT_DOUBLE_EQ(ink(full), 16);
}

TEST(Canvas, LineThroughPixelCentersIsSharp) {
  Canvas canvas({5, 20});
  canvas.line({2.5, 2.5}, {16.5, 2.5}, kBlack, 1);
  for (std::int32_t x = 3; x < 16; ++x) {
    EXPECT_EQ(pixel(canvas, x, 2), kBlack);
    EXPECT_EQ(pixel(canvas, x, 1), (Rgb{255, 255, 255}));
  }
}

TEST(Canvas, SlantedLineHasTheInkOfItsArea) {
  for (const double width : {0.5, 1.0, 2.0, 4.0}) {
    Canvas canvas({80, 80});
    canvas.line({10.2, 12.7}, {65.1, 60.4}, kBlack, width);
    const double length = std::hypot(65.1 - 10.2, 60.4 - 12.7);
    EXPECT_NEAR(ink(canvas), length * width, 0.08 * length * width + width * width);
  }
}

TEST(Canvas, OverlappingPartsOfAPolylineCountOnce) {
  Canvas canvas({20, 20});
  const Point there_and_back[] = {{3, 10}, {17, 10}, {3, 10}};
  canvas.polyline(there_and_back, kBlack, 3, 0.5);
  Canvas once({20, 20});
  once.line({3, 10}, {17, 10}, kBlack, 3, 0.5);
  EXPECT_EQ(canvas.image(), once.image());
}

TEST(Canvas, DiscHasTheInkOfItsArea) {
  Canvas canvas({40, 40});
  canvas.disc({20.3, 19.8}, 11, kBlack);
  EXPECT_NEAR(ink(canvas), 3.14159265 * 11 * 11, 4);
}

TEST(Canvas, DrawMagnifiesByWholePixels) {
  const data::Image image{{1, 2}, {255, 0, 0, 0, 0, 0}};
  Canvas canvas({5, 8});
  canvas.draw(1, 1, image, 3);
  EXPECT_EQ(pixel(canvas, 1, 1), kRed);
  EXPECT_EQ(pixel(canvas, 3, 3), kRed);
  EXPECT_EQ(pixel(canvas, 4, 1), kBlack);
  EXPECT_EQ(pixel(canvas, 6, 3), kBlack);
  EXPECT_EQ(pixel(canvas, 7, 3), (Rgb{255, 255, 255}));
  EXPECT_EQ(pixel(canvas, 1, 4), (Rgb{255, 255, 255}));
}

TEST(Canvas, DrawGrayShowsEqualChannels) {
  Canvas canvas({1, 2});
  canvas.draw_gray(0, 0, {1, 2}, std::vector<std::uint8_t>{7, 200});
  EXPECT_EQ(pixel(canvas, 0, 0), (Rgb{7, 7, 7}));
  EXPECT_EQ(pixel(canvas, 1, 0), (Rgb{200, 200, 200}));
  EXPECT_THROW(canvas.draw_gray(0, 0, {2, 2}, std::vector<std::uint8_t>{1}), InvalidArgument);
}

TEST(Canvas, AnyCoordinateIsAllowed) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const data::Image image = data::synthetic_image(1, 0, 0, {4, 4});
  Canvas canvas({8, 8});
  for (const std::int32_t a : {kLeast, -5, kMost}) {
    for (const std::int32_t b : {kLeast, -5, kMost}) {
      canvas.frame({a, b, kLeast, kMost}, kBlack, kMost);
      canvas.draw(a, b, image, kMost);
      canvas.text(a, b, "far away", {.vertical = VerticalAlign::top});
      canvas.text(a, b, "far away", {.upwards = true});
      canvas.fill({a, b, -1, -1}, kBlack);
      canvas.clip({a, b, -1, kMost});
      canvas.unclip();
    }
  }
  canvas.line({-1e300, 3}, {kInfinity, 3}, kBlack);
  canvas.line({-1e9, 4}, {1e9, 4}, kRed, 0.0);
  canvas.disc({std::nan(""), 3}, 5, kBlack);
  canvas.polyline({}, kBlack);
  EXPECT_EQ(canvas.size(), (ImageSize{8, 8}));
}

}  // namespace
}  // namespace medley::report
