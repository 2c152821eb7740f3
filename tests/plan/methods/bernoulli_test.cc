#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr ImageSize kSize{4, 5};
constexpr std::size_t kPixels = 20;

MixPlan draw(double lam, std::int64_t count) {
  MixPolicy policy;
  policy.method = "bernoulli";
  policy.method.set("lam", lam);
  return test::draw_samples(policy, kSize, 21, count);
}

TEST(Bernoulli, TakesWholePixels) {
  const MixPlan plan = draw(0.5, 100);
  for (const float value : plan.fields) ASSERT_TRUE(value == 0.0f || value == 1.0f);
}

TEST(Bernoulli, TakesEachPixelWithProbabilityLam) {
  constexpr std::size_t kDraws = 10000;
  constexpr double kLam = 0.3;
  std::vector<double> sums(kPixels);
  const MixPlan plan = draw(kLam, kDraws);
  for (const MixEntry& entry : plan.entries) {
    const auto values = test::values_of(plan, entry);
    for (std::size_t i = 0; i < kPixels; ++i) sums[i] += values[i];
  }
  for (std::size_t i = 0; i < kPixels; ++i) {
    EXPECT_NEAR(sums[i] / kDraws, kLam, test::frequency_bound(kLam, kDraws)) << "pixel " << i;
  }
}

TEST(Bernoulli, TakesPixelsIndependently) {
  // Two pixels are both the partner's with probability (1 - lam)^2.
  constexpr std::size_t kDraws = 10000;
  constexpr double kLam = 0.3, kBoth = (1 - kLam) * (1 - kLam);
  std::vector<double> both(kPixels);
  const MixPlan plan = draw(kLam, kDraws);
  for (const MixEntry& entry : plan.entries) {
    const auto values = test::values_of(plan, entry);
    for (std::size_t i = 1; i < kPixels; ++i) both[i] += (1 - values[0]) * (1 - values[i]);
  }
  for (std::size_t i = 1; i < kPixels; ++i) {
    EXPECT_NEAR(both[i] / kDraws, kBoth, test::frequency_bound(kBoth, kDraws)) << "pixel " << i;
  }
}

TEST(Bernoulli, WeighsLabelsByThePixelsItTook) {
  const MixPlan plan = draw(0.5, 100);
  bool differs = false;
  for (const MixEntry& entry : plan.entries) {
    EXPECT_DOUBLE_EQ(entry.label_weight, test::mean_of(test::values_of(plan, entry)));
    differs = differs || entry.label_weight != entry.lam;
  }
  EXPECT_TRUE(differs);
}

TEST(Bernoulli, WorksOnFeatureVectors) {
  MixPolicy policy;
  policy.method = "bernoulli";
  const MixPlan plan = test::draw_samples(policy, {1, 512}, 22, 4);
  EXPECT_EQ(plan.fields.size(), 4u * 512);
}

}  // namespace
}  // namespace medley
