#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr ImageSize kSize{3, 3};
constexpr double kRounding = 1e-14;

MixPolicy nmixup(std::int32_t n) {
  MixPolicy policy;
  policy.method = "nmixup";
  policy.method.set("n", n);
  return policy;
}

std::span<const MixTerm> terms_of(const MixPlan& plan, const MixEntry& entry) {
  return std::span(plan.terms)
      .subspan(static_cast<std::size_t>(entry.term_begin),
               static_cast<std::size_t>(entry.term_count));
}

double sum_of(std::span<const MixTerm> terms) {
  double sum = 0;
  for (const MixTerm& term : terms) sum += term.weight;
  return sum;
}

TEST(NMixup, ListsItsSources) {
  for (const std::int32_t n : {2, 3, 7}) {
    const MixPlan plan = test::draw_samples(nmixup(n), kSize, 1, 50);
    for (const MixEntry& entry : plan.entries) {
      ASSERT_EQ(entry.term_count, n);
      const auto terms = terms_of(plan, entry);
      EXPECT_EQ(terms[0].source, entry.own);
      EXPECT_EQ(terms[1].source, entry.partner);
      EXPECT_EQ(entry.mask, Mask(FlatMask{terms[0].weight}));
      EXPECT_EQ(entry.lam, terms[0].weight);
      EXPECT_EQ(entry.label_weight, terms[0].weight);
    }
  }
}

TEST(NMixup, WeightsSumToOne) {
  for (const bool power : {false, true}) {
    for (const std::int32_t n : {2, 3, 16}) {
      MixPolicy policy = nmixup(n);
      if (power) policy.method.set("power", 2.4);
      const MixPlan plan = test::draw_samples(policy, kSize, 2, 200);
      for (const MixEntry& entry : plan.entries) {
        ASSERT_NEAR(sum_of(terms_of(plan, entry)), 1, kRounding);
      }
    }
  }
}

TEST(NMixup, WeightsFollowTheDirichletDistribution) {
  constexpr std::size_t kDraws = 10000;
  constexpr double kAlpha = 0.7;
  constexpr std::int32_t kN = 4;
  MixPolicy policy = nmixup(kN);
  policy.method.set("alpha", kAlpha);
  const MixPlan plan = test::draw_samples(policy, kSize, 3, kDraws);
  for (std::size_t k = 0; k < kN; ++k) {
    std::vector<double> weights;
    for (const MixEntry& entry : plan.entries) weights.push_back(terms_of(plan, entry)[k].weight);
    // A weight of Dirichlet(a, ..., a) is Beta(a, (n-1) a).
    EXPECT_LT(test::beta_ks_distance(weights, kAlpha, (kN - 1) * kAlpha), test::ks_bound(kDraws))
        << "weight " << k;
  }
}

TEST(NMixup, OfTwoHasTheLamOfMixup) {
  constexpr std::size_t kDraws = 10000;
  std::vector<double> lams;
  for (const MixEntry& entry : test::draw_samples(nmixup(2), kSize, 4, kDraws).entries) {
    lams.push_back(entry.lam);
  }
  EXPECT_LT(test::beta_ks_distance(lams, 1, 1), test::ks_bound(kDraws));
}

TEST(NMixup, PowerWeightsAreTheSeriesInRandomOrder) {
  constexpr std::size_t kDraws = 6000;
  MixPolicy policy = nmixup(3);
  policy.method.set("power", 2.4);
  const double total = 1 + std::pow(2, -2.4) + std::pow(3, -2.4);
  const double series[] = {1 / total, std::pow(2, -2.4) / total, std::pow(3, -2.4) / total};
  const MixPlan plan = test::draw_samples(policy, kSize, 5, kDraws);
  std::vector<std::int64_t> orders(6);
  for (const MixEntry& entry : plan.entries) {
    std::size_t rank[3] = {};
    const auto terms = terms_of(plan, entry);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto* const at = std::ranges::find_if(
          series, [&](double w) { return std::abs(w - terms[k].weight) < kRounding; });
      ASSERT_NE(at, std::end(series)) << terms[k].weight;
      rank[k] = static_cast<std::size_t>(at - std::begin(series));
    }
    ++orders[2 * rank[0] + (rank[1] > rank[2] ? 1 : 0)];
  }
  EXPECT_LT(test::chi_square(orders), test::chi_square_bound(5));
}

TEST(NMixup, TakesAnyFixedLamAndSharesTheRest) {
  for (const double lam : {-0.5, 0.0, 0.4, 1.0, 1.5}) {
    for (const bool power : {false, true}) {
      MixPolicy policy = nmixup(4);
      policy.method.set("lam", lam);
      if (power) policy.method.set("power", 1.5);
      const MixPlan plan = test::draw_samples(policy, kSize, 6, 50);
      for (const MixEntry& entry : plan.entries) {
        const auto terms = terms_of(plan, entry);
        ASSERT_EQ(terms[0].weight, lam);
        ASSERT_NEAR(sum_of(terms), 1, kRounding);
        for (std::size_t k = 1; k < 4; ++k) ASSERT_GE(terms[k].weight * (1 - lam), 0);
      }
    }
  }
}

TEST(NMixup, DrawsPartnersIndependently) {
  constexpr std::int64_t kDraws = 8000;
  MixPolicy policy = nmixup(3);
  policy.pairing = Pairing::dataset;
  PlanRequest request;
  request.batch = kDraws;
  request.dataset_size = 5;
  const std::vector<std::int64_t> order(kDraws, 2);
  request.order = order;
  const MixPlan plan = Sampler(policy, kSize, 7).plan(request);
  std::vector<std::int64_t> pairs(25);
  for (const MixEntry& entry : plan.entries) {
    const auto terms = terms_of(plan, entry);
    ++pairs.at(static_cast<std::size_t>(5 * terms[1].source.index + terms[2].source.index));
  }
  EXPECT_LT(test::chi_square(pairs), test::chi_square_bound(24));
}

TEST(NMixup, UnmixedSamplesKeepTheirOwnAlone) {
  MixPolicy policy = nmixup(3);
  policy.prob = 0.5;
  const MixPlan plan = test::draw_samples(policy, kSize, 8, 100);
  std::size_t unmixed = 0;
  for (const MixEntry& entry : plan.entries) {
    if (entry.lam != 1) continue;
    ++unmixed;
    const auto terms = terms_of(plan, entry);
    EXPECT_EQ(terms[0].weight, 1);
    EXPECT_EQ(terms[1].weight, 0);
    EXPECT_EQ(terms[2].weight, 0);
  }
  EXPECT_GT(unmixed, 0u);
}

}  // namespace
}  // namespace medley
