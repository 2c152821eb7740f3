// The cpu backend against the reference, bit for bit, over random mixing calls.

#include <cstdlib>

#include <gtest/gtest.h>

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

TEST_P(EverySimdTarget, MatchesReferenceOnRandomCases) {
  for (std::uint64_t number = 0; number < case_count(); ++number) {
    const MixCase c = test::random_case(number);
    const MixPlan plan = c.plan();
    Batch in(c.in_dtype, c.in_layout, c.in_shape, c.in_gap);
    in.fill_random(number);
    const BatchShape out_shape{std::ssize(plan.entries), c.in_shape.channels, c.size.height,
                               c.size.width};
    Batch expected(c.out_dtype, c.out_layout, out_shape, c.out_gap);
    Batch actual = expected;
    MixOptions options = c.options;
    options.backend = Backend::reference;
    mix(plan, in.view(), expected.mutable_view(), options);
    options.backend = Backend::cpu;
    mix(plan, in.view(), actual.mutable_view(), options);
    ASSERT_EQ(test::difference(expected, actual, c.out_dtype), "")
        << "number " << number << ", " << c.describe();
  }
}

TEST_P(EverySimdTarget, MixesInPlaceLikeTheReference) {
  std::uint64_t mixed = 0;
  for (std::uint64_t number = 0; number < case_count(); ++number) {
    MixCase c = test::random_case(number);
    if (!get_method(c.policy.method).in_place || c.policy.pairing == Pairing::dataset) continue;
    c.policy.augment = {};
    const BatchShape shape{c.request.batch, c.in_shape.channels, c.size.height, c.size.width};
    const MixPlan plan = c.plan();
    Batch expected(c.in_dtype, c.in_layout, shape, c.in_gap);
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
