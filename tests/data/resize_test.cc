#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "data/picture_files.h"
#include "medley/data/image.h"
#include "medley/error.h"

namespace medley::data {
namespace {

/// A picture of equal channels.
Image gray_image(ImageSize size, const std::vector<std::uint8_t>& gray) {
  Image image{size, {}};
  for (const std::uint8_t value : gray) image.rgb.insert(image.rgb.end(), 3, value);
  return image;
}

TEST(Resize, EqualSizeIsTheIdentity) {
  const Image image = test::gradient_image({11, 7});
  EXPECT_EQ(resize(image, image.size), image);
}

TEST(Resize, EqualSideIsUntouched) {
  const Image image = gray_image({1, 4}, {3, 200, 17, 90});
  EXPECT_EQ(resize(image, {3, 4}),
            gray_image({3, 4}, {3, 200, 17, 90, 3, 200, 17, 90, 3, 200, 17, 90}));
}

TEST(Resize, ConstantStaysConstant) {
  for (const int value : {0, 1, 128, 254, 255}) {
    const auto gray = static_cast<std::uint8_t>(value);
    const Image image = gray_image({7, 5}, std::vector<std::uint8_t>(35, gray));
    for (const ImageSize size : {ImageSize{1, 1}, ImageSize{3, 2}, ImageSize{20, 13}}) {
      const Image resized = resize(image, size);
      EXPECT_TRUE(std::all_of(resized.rgb.begin(), resized.rgb.end(),
                              [&](std::uint8_t v) { return v == gray; }));
    }
  }
}

TEST(Resize, GrowingInterpolatesBetweenCenters) {
  // Centers at -1/4, 1/4, 3/4, 5/4 of the two pixels.
  EXPECT_EQ(resize(gray_image({1, 2}, {0, 255}), {1, 4}), gray_image({1, 4}, {0, 64, 191, 255}));
}

TEST(Resize, ShrinkingWidensTheFilter) {
  // Weights 3/7, 3/7, 1/7 on the first three pixels, mirrored for the last three.
  EXPECT_EQ(resize(gray_image({1, 4}, {0, 0, 255, 255}), {1, 2}), gray_image({1, 2}, {36, 219}));
  EXPECT_EQ(resize(gray_image({4, 1}, {0, 0, 255, 255}), {2, 1}), gray_image({2, 1}, {36, 219}));
}

TEST(Resize, ShrinkingAveragesAFineChecker) {
  std::vector<std::uint8_t> checker(4096);
  for (std::size_t i = 0; i < checker.size(); ++i) checker[i] = (i / 64 + i) % 2 != 0 ? 255 : 0;
  const Image small = resize(gray_image({64, 64}, checker), {8, 8});
  for (const std::uint8_t value : small.rgb) EXPECT_NEAR(value, 127.5, 8);
}

TEST(Resize, MirrorsWithThePicture) {
  const Image image = gray_image({1, 5}, {9, 200, 31, 120, 77});
  const Image mirrored = gray_image({1, 5}, {77, 120, 31, 200, 9});
  for (const std::int32_t width : {2, 3, 8}) {
    Image a = resize(image, {1, width});
    const Image b = resize(mirrored, {1, width});
    for (std::int32_t x = 0; x < width; ++x) {
      // Sums in opposite order may round apart.
      EXPECT_NEAR(a.rgb[static_cast<std::size_t>(3 * x)],
                  b.rgb[static_cast<std::size_t>(3 * (width - 1 - x))], 1);
    }
  }
}

TEST(Resize, RefusesImpossibleSizes) {
  const Image image = test::gradient_image({2, 2});
  for (const ImageSize size : {ImageSize{0, 1}, ImageSize{1, -1}, ImageSize{65536, 1},
                               ImageSize{-2, -2}, ImageSize{60000, 60000}}) {
    EXPECT_THROW((void)resize(image, size), InvalidArgument);
  }
  EXPECT_THROW((void)resize(Image{{2, 2}, {}}, {1, 1}), InvalidArgument);
}

}  // namespace
}  // namespace medley::data
