// The cpu backend against the reference, bit for bit, over random mixing calls.

#include <cstdlib>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "kernels/simd_target.h"
#include "medley/medley.h"
#include "support/batches.h"

namespace medley {
namespace {

using test::Batch;
using test::MixCase;

std::uint64_t case_count() {
  const char* text = std::getenv("MEDLEY_TEST_CASES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 3000;
}

class EverySimdTarget : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { set_simd_target(GetParam()); }
  void TearDown() override { set_simd_target(""); }
};

/// "" if both backends give the same.
std::string difference(const MixCase& c) {
  const MixPlan plan = c.plan();
  Batch in(c.in_dtype, c.in_layout, c.in_shape, c.in_gap, c.in_offset);
  in.fill_random(c.seed);
  const BatchShape out_shape{std::ssize(plan.entries), c.in_shape.channels, c.size.height,
                             c.size.width};
  Batch expected(c.out_dtype, c.out_layout, out_shape, c.out_gap, c.out_offset);
  Batch actual = expected;
  MixOptions options = c.options;
  options.backend = Backend::reference;
  mix(plan, in.view(), expected.mutable_view(), options);
  options.backend = Backend::cpu;
  mix(plan, in.view(), actual.mutable_view(), options);
  return test::difference(expected, actual, c.out_dtype);
}

TEST_P(EverySimdTarget, MatchesReferenceOnRandomCases) {
  for (std::uint64_t number = 0; number < case_count(); ++number) {
    const MixCase c = test::random_case(number);
    ASSERT_EQ(difference(c), "") << "number " << number << ", " << c.describe();
  }
}

// Larger images are cut into several runs of rows, bands and pieces.
TEST_P(EverySimdTarget, MatchesReferenceOnLargeImages) {
  constexpr std::int32_t kSides[] = {96, 112, 131, 224};
  for (std::uint64_t number = 0; number < case_count() / 40; ++number) {
    MixCase c = test::random_case(number);
    if (c.policy.method.uses("masks")) continue;
    c.size = {kSides[number % std::size(kSides)], kSides[number / 4 % std::size(kSides)]};
    c.in_shape.height = c.size.height;
    c.in_shape.width = c.size.width;
    c.request.threads = 1;
    ASSERT_EQ(difference(c), "") << "number " << number << ", " << c.describe();
  }
}

// Grids, masks of terms, moved tiles.
TEST_P(EverySimdTarget, MatchesReferenceOnBlocks) {
  for (std::uint64_t number = 0; number < case_count(); ++number) {
    MixCase c = test::random_case(number);
    c.blocks = test::Blocks::all;
    ASSERT_EQ(difference(c), "") << "number " << number << ", " << c.describe();
  }
}

TEST_P(EverySimdTarget, MatchesReferenceOnBlocksOfLargeImages) {
  constexpr std::int32_t kSides[] = {96, 112, 131, 224, 320};
  for (std::uint64_t number = 0; number < case_count() / 40; ++number) {
    MixCase c = test::random_case(number);
    if (c.policy.method.uses("masks")) continue;
    c.size = {kSides[number % std::size(kSides)], kSides[number / 4 % std::size(kSides)]};
    c.in_shape.height = c.size.height;
    c.in_shape.width = c.size.width;
    c.request.threads = 1;
    c.blocks = number % 2 == 0 ? test::Blocks::all : test::Blocks::masks;
    if (number % 4 == 1) {
      c.in_layout = c.out_layout = Layout::nchw;
      c.in_dtype = c.out_dtype = DType::f32;
      c.in_gap = c.out_gap = 0;
      c.policy.augment = {};
    }
    ASSERT_EQ(difference(c), "") << "number " << number << ", " << c.describe();
  }
}

// Columns of narrow boxes and of wide images are found in several ways, rows one by one or many at
// a time.
TEST_P(EverySimdTarget, ShrinksWideImagesLikeTheReference) {
  constexpr std::int32_t kWidths[] = {32, 33, 34, 64, 65, 66, 96, 131, 224, 320};
  for (std::uint64_t number = 0; number < case_count() / 3; ++number) {
    MixCase c = test::random_case(number);
    c.policy.method = "resizemix";
    c.policy.method.set("scale_min", 0.02);
    c.policy.method.set("scale_max", 1);
    c.size.width = kWidths[number % std::size(kWidths)];
    c.in_shape.width = c.size.width;
    if (number % 3 != 0) c.in_layout = c.out_layout = Layout::nchw;
    if (number % 3 == 1) c.in_dtype = DType::u8;
    if (number % 2 == 0) c.out_dtype = DType::f32;
    if (number % 4 < 2) {
      c.policy.augment = {};
      c.in_gap = 0;
    }
    ASSERT_EQ(difference(c), "") << "number " << number << ", " << c.describe();
  }
}

TEST_P(EverySimdTarget, MixesInPlaceLikeTheReference) {
  std::uint64_t mixed = 0;
  for (std::uint64_t number = 0; number < case_count(); ++number) {
    MixCase c = test::random_case(number);
    if (!c.policy.method.info().in_place || c.policy.pairing == Pairing::dataset) continue;
    c.policy.augment = {};
    c.blocks = number % 3 == 0 ? test::Blocks::masks : test::Blocks::none;
    const BatchShape shape{c.request.batch, c.in_shape.channels, c.size.height, c.size.width};
    const MixPlan plan = c.plan();
    Batch expected(c.in_dtype, c.in_layout, shape, c.in_gap, c.in_offset);
    expected.fill_random(number);
    Batch actual = expected;
    MixOptions options = c.options;
    options.backend = Backend::reference;
    mix(plan, expected.view(), expected.mutable_view(), options);
    options.backend = Backend::cpu;
    mix(plan, actual.view(), actual.mutable_view(), options);
    ASSERT_EQ(test::difference(expected, actual, c.in_dtype), "")
        << "number " << number << ", " << c.describe();
    ++mixed;
  }
  EXPECT_GT(mixed, case_count() / 4);
}

INSTANTIATE_TEST_SUITE_P(Cpu, EverySimdTarget, testing::ValuesIn(simd_targets()),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace medley
