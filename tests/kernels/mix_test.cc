// Mixing worked out by hand on tiny images.

#include "medley/mix.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/mix_cases.h"
#include "support/batches.h"

namespace medley {
namespace {

using test::Batch;
using test::Images;
using test::plan_of;
using testing::Each;
using testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Image 0 counts from 1, image 1 from 100.
Images counting(ImageSize size) {
  Images images{size, {}};
  for (const float start : {1.0f, 100.0f}) {
    for (std::int64_t i = 0; i < size.pixels(); ++i) {
      images.values.push_back(start + static_cast<float>(i));
    }
  }
  return images;
}

class Mix : public test::EveryBackend {};

INSTANTIATE_TEST_SUITE_P(On, Mix, testing::ValuesIn(available_backends()), test::backend_name);

// ---- each kind of mask ----

TEST_P(Mix, FlatBlendsEveryPixel) {
  const MixPlan plan = plan_of({1, 3}, FlatMask{0.25});
  EXPECT_THAT(mixed(plan, {{1, 3}, {4, 8, 12, 8, 0, -4}}), ElementsAre(7, 2, 0));
}

TEST_P(Mix, FlatBeyondOneExtrapolates) {
  const MixPlan plan = plan_of({1, 2}, FlatMask{1.5});
  EXPECT_THAT(mixed(plan, {{1, 2}, {4, 8, 2, 16}}), ElementsAre(5, 4));
}

TEST_P(Mix, BoxTakesThePartnerInside) {
  const MixPlan plan = plan_of({3, 4}, BoxMask{1, 2, 2, 1, 0, 1});
  EXPECT_THAT(mixed(plan, counting({3, 4})), ElementsAre(1, 2, 3, 4,    //
                                                         5, 6, 106, 8,  //
                                                         9, 10, 110, 12));
}

TEST_P(Mix, BoxMayBlendOnBothSides) {
  const MixPlan plan = plan_of({1, 3}, BoxMask{0, 1, 1, 1, 0.25, 0.5});
  EXPECT_THAT(mixed(plan, {{1, 3}, {4, 4, 4, 8, 8, 8}}), ElementsAre(6, 7, 6));
}

TEST_P(Mix, BoxMayWrap) {
  const MixPlan plan = plan_of({3, 4}, BoxMask{2, 3, 2, 2, 0, 1});
  EXPECT_THAT(mixed(plan, counting({3, 4})), ElementsAre(100, 2, 3, 103,  //
                                                         5, 6, 7, 8,      //
                                                         108, 10, 11, 111));
}

TEST_P(Mix, BoxMayBeEmptyOrEverything) {
  EXPECT_THAT(mixed(plan_of({1, 3}, BoxMask{1, 3, 0, 0, 0, 1}), counting({1, 3})),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(mixed(plan_of({1, 3}, BoxMask{0, 1, 0, 2, 0, 1}), counting({1, 3})),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(mixed(plan_of({1, 3}, BoxMask{0, 2, 1, 3, 0, 1}), counting({1, 3})),
              ElementsAre(100, 101, 102));
}

TEST_P(Mix, GaussianFadesThePartnerIn) {
  // Two roundings of the factors, one of the product, one of the complement, then the blend.
  constexpr double kUlps = 6 * 0x1p-24 * 200;
  constexpr ImageSize kSize{3, 5};
  const Images images = counting(kSize);
  for (const Peak peak : {Peak::own, Peak::partner}) {
    const std::vector<float> out = mixed(plan_of(kSize, GaussianMask{1, 3, 0.4, peak}), images);
    std::size_t at = 0;
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 5; ++x, ++at) {
        const double distance2 = (y - 1) * (y - 1) + (x - 3) * (x - 3);
        const double k = std::exp(-std::numbers::pi * distance2 / (0.4 * 15));
        const double own = peak == Peak::own ? k : 1 - k;
        EXPECT_NEAR(out[at], own * images.values[at] + (1 - own) * images.values[15 + at], kUlps);
      }
    }
  }
}

TEST_P(Mix, GaussianIsThePeaksImageAtItsCenter) {
  const Images images = counting({3, 5});
  EXPECT_EQ(mixed(plan_of({3, 5}, GaussianMask{1, 3, 0.4, Peak::partner}), images)[8], 108);
  EXPECT_EQ(mixed(plan_of({3, 5}, GaussianMask{1, 3, 0.4, Peak::own}), images)[8], 9);
}

TEST_P(Mix, FieldWeighsEachPixelByItself) {
  MixPlan plan = plan_of({2, 2}, FieldMask{1});
  plan.fields = {9, 0, 1, 0.5f, -0.5f, 9};
  EXPECT_THAT(mixed(plan, {{2, 2}, {4, 4, 4, 4, 8, 8, 8, 8}}), ElementsAre(8, 4, 6, 10));
}

TEST_P(Mix, TermsAreAWeightedSum) {
  MixPlan plan = plan_of({1, 2}, FlatMask{0.5});
  plan.terms = {{{2, 0, 0, false}, 0.5}, {{0, 0, 0, false}, 0.25}, {{1, 0, 0, false}, 0.25}};
  plan.entries[0].term_count = 3;
  EXPECT_THAT(mixed(plan, {{1, 2}, {4, 8, 12, 16, 100, 200}}), ElementsAre(54, 106));
}

TEST_P(Mix, TermsMayRepeatAnImage) {
  MixPlan plan = plan_of({1, 1}, FlatMask{0.5});
  plan.terms = {{{0, 0, 0, false}, 0.5}, {{1, 0, 0, false}, 0.25}, {{0, 0, 0, false}, 0.25}};
  plan.entries[0].term_count = 3;
  EXPECT_THAT(mixed(plan, {{1, 1}, {8, 16}}), ElementsAre(10));
}

TEST_P(Mix, MakesOutputsIndependently) {
  MixPlan plan = plan_of({1, 1}, FlatMask{0.5});
  plan.entries.resize(3);
  plan.entries[1].own.index = 1;
  plan.entries[1].mask = FlatMask{1};
  plan.entries[2].partner.index = 2;
  plan.entries[2].mask = FlatMask{0};
  EXPECT_THAT(mixed(plan, {{1, 1}, {2, 4, 32}}), ElementsAre(3, 4, 32));
}

TEST_P(Mix, CountsImagesFromTheBaseOfThePlan) {
  MixPlan plan = plan_of({1, 1}, FlatMask{0.5});
  plan.base = 1000;
  plan.entries[0].own.index = 1001;
  plan.entries[0].partner.index = 1000;
  EXPECT_THAT(mixed(plan, {{1, 1}, {2, 4}}), ElementsAre(3));
}

// ---- the shrunk partner ----

/// Image 1 of 4x4: 16 * row + column times 10, image 0: zeros.
Images ramp() {
  Images images{{4, 4}, std::vector<float>(16)};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) images.values.push_back(static_cast<float>(100 * y + 10 * x));
  }
  return images;
}

TEST_P(Mix, NearestResamplingTakesPixels) {
  MixPlan plan = plan_of({4, 4}, BoxMask{1, 2, 2, 2, 0, 1});
  plan.entries[0].resample = Resample::nearest;
  EXPECT_THAT(mixed(plan, ramp()), ElementsAre(0, 0, 0, 0,      //
                                               0, 0, 110, 130,  //
                                               0, 0, 310, 330,  //
                                               0, 0, 0, 0));
}

TEST_P(Mix, BilinearResamplingAveragesPixels) {
  MixPlan plan = plan_of({4, 4}, BoxMask{1, 2, 2, 2, 0, 1});
  plan.entries[0].resample = Resample::bilinear;
  EXPECT_THAT(mixed(plan, ramp()), ElementsAre(0, 0, 0, 0,      //
                                               0, 0, 55, 75,    //
                                               0, 0, 255, 275,  //
                                               0, 0, 0, 0));
}

TEST_P(Mix, ResamplingShowsTheWholePartnerInAWrappedBox) {
  MixPlan plan = plan_of({4, 4}, BoxMask{3, 3, 2, 2, 0, 1});
  plan.entries[0].resample = Resample::bilinear;
  EXPECT_THAT(mixed(plan, ramp()), ElementsAre(275, 0, 0, 255,  //
                                               0, 0, 0, 0,      //
                                               0, 0, 0, 0,      //
                                               75, 0, 0, 55));
}

TEST_P(Mix, ResamplingSeesThePartnerThroughItsWindow) {
  MixPlan plan = plan_of({4, 4}, BoxMask{0, 0, 2, 2, 0, 1});
  plan.entries[0].resample = Resample::nearest;
  plan.entries[0].partner.flip = true;
  const std::vector<float> out = mixed(plan, ramp());
  EXPECT_EQ(out[0], 120);
  EXPECT_EQ(out[1], 100);
}

// ---- copies ----

TEST_P(Mix, WeightsOfZeroAndOneCopyBitForBit) {
  const std::vector<float> own = {-0.0f, 1e-45f, kInfinity, 0.1f, -3e38f, 7.0f};
  const std::vector<float> partner(6, kNan);
  Images images{{1, 6}, own};
  images.values.insert(images.values.end(), partner.begin(), partner.end());
  MixPlan field = plan_of({1, 6}, FieldMask{0});
  field.fields.assign(6, 1.0f);
  for (const MixPlan& plan :
       {plan_of({1, 6}, FlatMask{1}), plan_of({1, 6}, BoxMask{0, 0, 0, 0, 0, 1}),
        plan_of({1, 6}, GaussianMask{0, 0, 1e-300, Peak::partner}), field}) {
    const std::vector<float> out = mixed(plan, images);
    const bool gaussian = std::holds_alternative<GaussianMask>(plan.entries[0].mask);
    for (std::size_t i = gaussian ? 1 : 0; i < 6; ++i) {  // the center pixel is the partner's
      EXPECT_EQ(out[i], own[i]) << plan.entries[0].mask.index();
      EXPECT_EQ(std::signbit(out[i]), std::signbit(own[i]));
    }
  }
}

TEST_P(Mix, NothingOfAnImageLeaksWhereItHasNoWeight) {
  constexpr ImageSize kSize{2, 40};  // wider than any vector
  Images images{kSize, std::vector<float>(80, kNan)};
  images.values.insert(images.values.end(), 80, 5.0f);
  MixPlan field = plan_of(kSize, FieldMask{0});
  field.fields.assign(80, 0.0f);
  for (const MixPlan& plan :
       {plan_of(kSize, FlatMask{0}), plan_of(kSize, BoxMask{0, 0, 2, 40, 0, 1}), field}) {
    EXPECT_THAT(mixed(plan, images), Each(5.0f));
  }
}

TEST_P(Mix, NothingLeaksAcrossTheEdgeOfABox) {
  constexpr ImageSize kSize{1, 40};
  Images images{kSize, std::vector<float>(40, 1.0f)};
  images.values.insert(images.values.end(), 40, 2.0f);
  // NaN in the own image inside the box, in the partner outside it.
  for (std::size_t x = 0; x < 40; ++x) images.values[x >= 7 && x < 23 ? x : 40 + x] = kNan;
  const std::vector<float> out = mixed(plan_of(kSize, BoxMask{0, 7, 1, 16, 0, 1}), images);
  for (std::size_t x = 0; x < 40; ++x) EXPECT_EQ(out[x], x >= 7 && x < 23 ? 2.0f : 1.0f) << x;
}

TEST_P(Mix, ATermOfWeightZeroHasNoSay) {
  MixPlan plan = plan_of({1, 2}, FlatMask{1});
  plan.terms = {{{0, 0, 0, false}, 1.0}, {{1, 0, 0, false}, 0.0}};
  plan.entries[0].term_count = 2;
  EXPECT_THAT(mixed(plan, {{1, 2}, {3, 4, kNan, kInfinity}}), ElementsAre(3, 4));
}

TEST_P(Mix, NanPassesThroughWhereItHasWeight) {
  const std::vector<float> out =
      mixed(plan_of({1, 2}, FlatMask{0.5}), {{1, 2}, {kNan, kInfinity, 1, 1}});
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], kInfinity);
}

// ---- symmetry ----

TEST_P(Mix, SwappingImagesAndComplementingTheMaskChangesNothing) {
  constexpr ImageSize kSize{5, 19};
  Batch in(DType::f32, Layout::nchw, {2, 3, 5, 19});
  in.fill_random(17, false);
  MixPlan field = plan_of(kSize, FieldMask{0});
  MixPlan field_swapped = field;
  for (int i = 0; i < 95; ++i) {
    field.fields.push_back(static_cast<float>(i) / 64);  // exact, and so is the complement
    field_swapped.fields.push_back(1 - static_cast<float>(i) / 64);
  }
  const std::pair<MixPlan, MixPlan> pairs[] = {
      {plan_of(kSize, FlatMask{0.3125}), plan_of(kSize, FlatMask{0.6875})},
      {plan_of(kSize, BoxMask{1, 4, 3, 9, 0.25, 0.875}),
       plan_of(kSize, BoxMask{1, 4, 3, 9, 0.75, 0.125})},
      {plan_of(kSize, GaussianMask{2, 11, 0.3, Peak::own}),
       plan_of(kSize, GaussianMask{2, 11, 0.3, Peak::partner})},
      {field, field_swapped}};
  for (auto [plan, swapped] : pairs) {
    std::swap(swapped.entries[0].own, swapped.entries[0].partner);
    Batch a(DType::f32, Layout::nchw, {1, 3, 5, 19}), b = a;
    mix(plan, in.view(), a.mutable_view(), options_);
    mix(swapped, in.view(), b.mutable_view(), options_);
    EXPECT_EQ(test::difference(a, b, DType::f32), "") << plan.entries[0].mask.index();
  }
}

// ---- types ----

TEST_P(Mix, RoundsU8ToNearestEven) {
  const std::vector<std::uint8_t> in = {0, 1, 2, 250, 255, 1, 2, 3, 253, 254};
  std::vector<std::uint8_t> out(5);
  mix(plan_of({1, 5}, FlatMask{0.5}), view_of(in, {2, 1, 1, 5}), mutable_view_of(out, {1, 1, 1, 5}),
      options_);
  EXPECT_THAT(out, ElementsAre(0, 2, 2, 252, 254));  // 0.5, 1.5, 2.5, 251.5, 254.5
}

TEST_P(Mix, ClampsU8) {
  const std::vector<std::uint8_t> in = {255, 0, 0, 255};
  std::vector<std::uint8_t> out(2);
  mix(plan_of({1, 2}, FlatMask{1.5}), view_of(in, {2, 1, 1, 2}), mutable_view_of(out, {1, 1, 1, 2}),
      options_);
  EXPECT_THAT(out, ElementsAre(255, 0));
}

TEST_P(Mix, NormalizesEachChannelAfterMixing) {
  const std::vector<std::uint8_t> in = {10, 20, 30, 40,
                                        30, 40, 50, 60};  // two channels, two pixels
  std::vector<float> out(4);
  options_.normalize = {{20.0f, 40.0f}, {2.0f, 4.0f}};
  mix(plan_of({1, 2}, FlatMask{0.5}), view_of(in, {2, 2, 1, 2}), mutable_view_of(out, {1, 2, 1, 2}),
      options_);
  EXPECT_THAT(out, ElementsAre(0, 5, 0, 2.5f));
}

TEST_P(Mix, NormalizesCopiesToo) {
  const std::vector<std::uint8_t> in = {10, 20, 30, 40, 0, 0, 0, 0};
  std::vector<float> out(4);
  options_.normalize = {{20.0f, 40.0f}, {2.0f, 4.0f}};
  mix(plan_of({1, 2}, FlatMask{1}), view_of(in, {2, 2, 1, 2}), mutable_view_of(out, {1, 2, 1, 2}),
      options_);
  EXPECT_THAT(out, ElementsAre(-5, 0, -2.5f, 0));
}

TEST(Normalize, OfUnitRangeIsScaledToBytes) {
  const std::vector<float> mean = {0.5f, 0.2f}, stddev = {0.25f, 1.0f};
  const Normalize n = Normalize::of_unit_range(mean, stddev);
  EXPECT_THAT(n.mean, ElementsAre(127.5f, 51.0f));
  EXPECT_THAT(n.stddev, ElementsAre(63.75f, 255.0f));
  EXPECT_FALSE(n.empty());
  EXPECT_TRUE(Normalize{}.empty());
}

// ---- memory ----

TEST_P(Mix, LeavesGapsBetweenRowsAlone) {
  constexpr std::int64_t kGap = 5;
  constexpr BatchShape kShape{2, 3, 4, 21};
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      Batch in(DType::f32, layout, kShape);
      in.fill_random(3, false);
      Batch out(DType::f32, layout, kShape, kGap);
      const std::byte pattern = out.bytes().front();
      MixPlan plan = plan_of(kShape.size(), FlatMask{0.5});
      plan.entries.push_back(plan.entries[0]);
      options_.stores = stores;
      mix(plan, in.view(), out.mutable_view(), options_);
      const std::int64_t values = layout == Layout::nchw ? 21 : 21 * 3;
      const std::int64_t row = values + kGap;
      const std::int64_t rows = kShape.count * 4 * (layout == Layout::nchw ? 3 : 1);
      const auto* pixels = static_cast<const std::byte*>(out.view().data);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t at = (r * row + values) * 4; at < (r + 1) * row * 4; ++at) {
          ASSERT_EQ(pixels[at], pattern);
        }
      }
    }
  }
}

TEST_P(Mix, ReadsAroundGaps) {
  constexpr BatchShape kShape{2, 3, 4, 21};
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    Batch dense(DType::f32, layout, kShape), gaps(DType::f32, layout, kShape, 3);
    dense.fill_random(4, false);
    gaps.fill_random(4, false);
    Batch a(DType::f32, layout, {1, 3, 4, 21}), b = a;
    const MixPlan plan = plan_of(kShape.size(), BoxMask{1, 3, 2, 9, 0.25, 0.5});
    mix(plan, dense.view(), a.mutable_view(), options_);
    mix(plan, gaps.view(), b.mutable_view(), options_);
    EXPECT_EQ(test::difference(a, b, DType::f32), "");
  }
}

TEST_P(Mix, LeavesItsInputAlone) {
  Batch in(DType::f16, Layout::nhwc, {2, 3, 4, 21}, 2);
  in.fill_random(5);
  const test::Bytes before = in.bytes();
  Batch out(DType::u8, Layout::nchw, {1, 3, 4, 21});
  mix(plan_of({4, 21}, FlatMask{0.3}), in.view(), out.mutable_view(), options_);
  EXPECT_EQ(in.bytes(), before);
}

TEST_P(Mix, GivesTheSameBitsOnAnyNumberOfThreads) {
  Batch in(DType::u8, Layout::nhwc, {9, 3, 17, 13});
  in.fill_random(6);
  MixPolicy policy;
  policy.method = "gmix";
  const MixPlan plan = Sampler(policy, {17, 13}, 1).plan({.batch = 9});
  options_.threads = 1;
  Batch expected(DType::f16, Layout::nchw, {9, 3, 17, 13});
  mix(plan, in.view(), expected.mutable_view(), options_);
  for (const int threads : {0, 2, 5, 64}) {
    options_.threads = threads;
    Batch actual(DType::f16, Layout::nchw, {9, 3, 17, 13});
    mix(plan, in.view(), actual.mutable_view(), options_);
    EXPECT_EQ(test::difference(expected, actual, DType::f16), "") << threads;
  }
}

}  // namespace
}  // namespace medley
