#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::HasSubstr;

MixPolicy custom(ImageSize size, std::vector<float> values) {
  MixPolicy policy;
  policy.method = "custom";
  policy.method.set("masks", std::make_shared<MaskSet>(MaskSet{size, std::move(values)}));
  return policy;
}

TEST(Custom, ChoosesMasksUniformly) {
  constexpr std::size_t kMasks = 7;
  std::vector<float> values;
  for (std::size_t i = 0; i < kMasks; ++i) values.insert(values.end(), 2, static_cast<float>(i));
  const MixPlan plan = test::draw_samples(custom({1, 2}, values), {1, 2}, 41, 7000);
  std::vector<std::int64_t> counts(kMasks);
  for (const MixEntry& entry : plan.entries) {
    ++counts.at(static_cast<std::size_t>(test::values_of(plan, entry)[0]));
  }
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(kMasks - 1));
}

TEST(Custom, TakesMasksAsTheyAre) {
  const std::vector<float> values = {0.25f, -3.0f, 1.5f, 0.0f};
  const MixPlan plan = test::draw_samples(custom({2, 2}, values), {2, 2}, 42, 1);
  EXPECT_EQ(plan.fields, values);
  EXPECT_DOUBLE_EQ(plan.entries[0].lam, -0.3125);
  EXPECT_DOUBLE_EQ(plan.entries[0].label_weight, -0.3125);
}

std::string refusal(const MixPolicy& policy, ImageSize size) {
  try {
    const Sampler sampler(policy, size, 1);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Custom, NeedsMasks) {
  MixPolicy policy;
  policy.method = "custom";
  EXPECT_THAT(refusal(policy, {2, 2}), HasSubstr("at least one mask, got none"));
  EXPECT_THAT(refusal(custom({2, 2}, {}), {2, 2}), HasSubstr("at least one mask, got none"));
}

TEST(Custom, NeedsMasksOfTheImagesSize) {
  EXPECT_THAT(refusal(custom({1, 4}, {1, 1, 1, 1}), {2, 2}),
              AllOf(HasSubstr("2x2"), HasSubstr("1x4")));
}

TEST(Custom, NeedsWholeMasks) {
  EXPECT_THAT(refusal(custom({2, 2}, {1, 1, 1, 1, 1}), {2, 2}),
              AllOf(HasSubstr("multiple of 4"), HasSubstr("got 5")));
}

TEST(Custom, NeedsFiniteValues) {
  EXPECT_THAT(refusal(custom({1, 2}, {1, std::numeric_limits<float>::quiet_NaN()}), {1, 2}),
              HasSubstr("finite"));
}

}  // namespace
}  // namespace medley
