#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr ImageSize kSize{4, 4};

TEST(Mixup, BlendsEverywhereWithLam) {
  for (const MixEntry& entry : test::draw_samples({}, kSize, 1, 100).entries) {
    EXPECT_EQ(entry.mask, Mask(FlatMask{entry.lam}));
    EXPECT_EQ(entry.label_weight, entry.lam);
  }
}

TEST(Mixup, TakesAnyFixedLam) {
  MixPolicy policy;
  EXPECT_THROW(policy.method.set("lam", 1e39), InvalidArgument);  // pixels are float
  for (const double lam : {-0.5, 0.0, 0.3, 1.0, 1.75}) {
    policy.method.set("lam", lam);
    const MixEntry entry = test::draw_samples(policy, kSize, 1, 1).entries[0];
    EXPECT_EQ(entry.mask, Mask(FlatMask{lam}));
    EXPECT_EQ(entry.label_weight, lam);
  }
}

TEST(Mixup, DrawsLamFromBothParametersOfTheBetaDistribution) {
  constexpr std::size_t kDraws = 20000;
  MixPolicy policy;
  policy.method.set("alpha", 0.5);
  policy.method.set("beta", 3);
  std::vector<double> lams;
  for (const MixEntry& entry : test::draw_samples(policy, kSize, 2, kDraws).entries) {
    lams.push_back(entry.lam);
  }
  EXPECT_LT(test::beta_ks_distance(lams, 0.5, 3), test::ks_bound(kDraws));
}

TEST(Mixup, MixesWithTheGivenProbability) {
  constexpr std::size_t kDraws = 20000;
  for (const double prob : {0.1, 0.5, 0.9}) {
    MixPolicy policy;
    policy.prob = prob;
    std::size_t mixed = 0;
    for (const MixEntry& entry : test::draw_samples(policy, kSize, 3, kDraws).entries) {
      if (entry.lam == 1) {
        ASSERT_EQ(entry.mask, Mask(FlatMask{1}));
        ASSERT_EQ(entry.label_weight, 1);
      } else {
        ++mixed;
      }
    }
    EXPECT_NEAR(static_cast<double>(mixed) / kDraws, prob, test::frequency_bound(prob, kDraws));
  }
}

TEST(Mixup, MixedSamplesAreTheSameWhateverTheProbability) {
  MixPolicy policy;
  const MixPlan always = test::draw_samples(policy, kSize, 4, 200);
  policy.prob = 0.5;
  const MixPlan sometimes = test::draw_samples(policy, kSize, 4, 200);
  for (std::size_t i = 0; i < 200; ++i) {
    if (sometimes.entries[i].lam == 1) continue;
    EXPECT_EQ(sometimes.entries[i], always.entries[i]);
  }
}

}  // namespace
}  // namespace medley
