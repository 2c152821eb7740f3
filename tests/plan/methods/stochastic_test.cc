#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr ImageSize kSize{9, 6};

MixPlan draw(const char* method, double q_mix, std::int64_t count) {
  MixPolicy policy;
  policy.method = method;
  policy.method.set_if_used("q_mix", q_mix);
  return test::draw_samples(policy, kSize, 11, count);
}

bool is_mixup(const MixEntry& entry) { return std::holds_alternative<FlatMask>(entry.mask); }

TEST(Stochastic, TakesMixupWithItsProbability) {
  constexpr std::size_t kDraws = 20000;
  for (const double q_mix : {0.2, 0.5, 0.85}) {
    double mixups = 0;
    for (const MixEntry& entry : draw("stochastic", q_mix, kDraws).entries) {
      mixups += is_mixup(entry) ? 1 : 0;
    }
    EXPECT_NEAR(mixups / kDraws, q_mix, test::frequency_bound(q_mix, kDraws));
  }
}

TEST(Stochastic, IsMixupOrCutmixAtTheEnds) {
  EXPECT_EQ(draw("stochastic", 1, 50).entries, draw("mixup", 1, 50).entries);
  EXPECT_EQ(draw("stochastic", 0, 50).entries, draw("cutmix", 0, 50).entries);
}

TEST(Stochastic, ChoosesIndependentlyOfLam) {
  constexpr std::size_t kDraws = 20000;
  std::vector<double> mixups, cutmixes;
  for (const MixEntry& entry : draw("stochastic", 0.5, kDraws).entries) {
    (is_mixup(entry) ? mixups : cutmixes).push_back(entry.lam);
  }
  EXPECT_LT(test::beta_ks_distance(mixups, 1, 1), test::ks_bound(mixups.size()));
  EXPECT_LT(test::beta_ks_distance(cutmixes, 1, 1), test::ks_bound(cutmixes.size()));
}

}  // namespace
}  // namespace medley
