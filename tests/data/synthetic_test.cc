#include "medley/data/dataset.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "medley/error.h"

namespace medley::data {
namespace {

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(a.rgb[i] - b.rgb[i]);
  return sum / static_cast<double>(a.rgb.size());
}

std::uint64_t fingerprint(const Image& image) {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  for (const std::uint8_t value : image.rgb) hash = (hash ^ value) * 0x100000001B3u;
  return hash;
}

TEST(SyntheticImage, IsAFunctionOfItsArguments) {
  EXPECT_EQ(synthetic_image(3, 5, 1, {40, 33}), synthetic_image(3, 5, 1, {40, 33}));
}

TEST(SyntheticImage, HasTheSameBitsEverywhere) {
  std::uint64_t all = 0;
  for (std::int32_t c = 0; c < kSyntheticClasses; ++c) {
    all = all * 31 + fingerprint(synthetic_image(1, c, c, {24, 24}));
  }
  EXPECT_EQ(all, 7135916680890539687u);
}

TEST(SyntheticImage, VariesWithSeedIndexAndClass) {
  const Image image = synthetic_image(1, 0, 0, {32, 32});
  EXPECT_GT(mean_difference(image, synthetic_image(2, 0, 0, {32, 32})), 10);
  EXPECT_GT(mean_difference(image, synthetic_image(1, 1, 0, {32, 32})), 10);
  std::set<std::uint64_t> seen;
  for (std::int32_t c = 0; c < kSyntheticClasses; ++c) {
    for (std::int64_t i = 0; i < 20; ++i)
      seen.insert(fingerprint(synthetic_image(1, i, c, {16, 16})));
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kSyntheticClasses) * 20);
}

TEST(SyntheticImage, ShowsSomethingAtEverySize) {
  for (const ImageSize size : {ImageSize{16, 16}, ImageSize{30, 61}, ImageSize{96, 40}}) {
    for (std::int32_t c = 0; c < kSyntheticClasses; ++c) {
      const Image image = synthetic_image(9, c, c, size);
      ASSERT_EQ(image.rgb.size(), static_cast<std::size_t>(3 * size.pixels()));
      double sum = 0;
      double squares = 0;
      for (const std::uint8_t v : image.rgb) {
        sum += v;
        squares += v * v;
      }
      const auto n = static_cast<double>(image.rgb.size());
      EXPECT_GT(std::sqrt(squares / n - sum / n * (sum / n)), 15);
    }
  }
  EXPECT_EQ(synthetic_image(0, 0, 0, {1, 1}).rgb.size(), 3u);
}

TEST(SyntheticImage, IsTheSameSceneAtEverySize) {
  for (std::int32_t c = 0; c < kSyntheticClasses; ++c) {
    const Image small = synthetic_image(4, c, c, {32, 32});
    const Image large = resize(synthetic_image(4, c, c, {128, 128}), {32, 32});
    EXPECT_LT(mean_difference(small, large), 6) << synthetic_class_name(c);
  }
}

TEST(SyntheticImage, ClassesHaveDistinctNames) {
  std::set<std::string_view> names;
  for (std::int32_t c = 0; c < kSyntheticClasses; ++c) names.insert(synthetic_class_name(c));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kSyntheticClasses));
}

TEST(SyntheticImage, RefusesWrongArguments) {
  EXPECT_THROW((void)synthetic_image(0, 0, -1, {8, 8}), InvalidArgument);
  EXPECT_THROW((void)synthetic_image(0, 0, kSyntheticClasses, {8, 8}), InvalidArgument);
  EXPECT_THROW((void)synthetic_image(0, -1, 0, {8, 8}), InvalidArgument);
  EXPECT_THROW((void)synthetic_image(0, 0, 0, {0, 8}), InvalidArgument);
  EXPECT_THROW((void)synthetic_image(0, 0, 0, {70000, 8}), InvalidArgument);
  EXPECT_THROW((void)synthetic_class_name(kSyntheticClasses), InvalidArgument);
}

}  // namespace
}  // namespace medley::data
