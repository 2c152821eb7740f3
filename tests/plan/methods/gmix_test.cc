#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/gaussian.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr double kExact = 1e-12;

MixPolicy gmix(Form form) {
  MixPolicy policy;
  policy.method = "gmix";
  policy.method.set("form", form);
  return policy;
}

TEST(GMix, HasABumpForTheSmallerShare) {
  for (const MixEntry& entry : test::draw_samples(gmix(Form::code), {8, 8}, 1, 500).entries) {
    const auto& mask = std::get<GaussianMask>(entry.mask);
    EXPECT_EQ(mask.peak, entry.lam < 0.5 ? Peak::own : Peak::partner);
    EXPECT_EQ(mask.tau, std::min(entry.lam, 1 - entry.lam));
  }
}

TEST(GMix, OfThePaperHasThePartnersBumpOfTwiceTheShare) {
  for (const MixEntry& entry : test::draw_samples(gmix(Form::paper), {8, 8}, 2, 500).entries) {
    const auto& mask = std::get<GaussianMask>(entry.mask);
    EXPECT_EQ(mask.peak, Peak::partner);
    EXPECT_EQ(mask.tau, 2 * (1 - entry.lam));
  }
}

TEST(GMix, IsItsOwnComplementWhenTheImagesSwap) {
  // lam and 1 - lam, drawn with one seed, have one center; their masks add up to 1.
  for (const double lam : {0.0, 0.125, 0.25, 0.4375}) {
    MixPolicy policy = gmix(Form::code);
    policy.method.set("lam", lam);
    const MixPlan own = test::draw_samples(policy, {6, 9}, 3, 100);
    policy.method.set("lam", 1 - lam);
    const MixPlan swapped = test::draw_samples(policy, {6, 9}, 3, 100);
    for (std::size_t i = 0; i < own.entries.size(); ++i) {
      const auto a = test::values_of(own, own.entries[i]);
      const auto b = test::values_of(swapped, swapped.entries[i]);
      for (std::size_t j = 0; j < a.size(); ++j) ASSERT_EQ(b[j], 1 - a[j]);
    }
  }
}

TEST(GMix, CalibratedHasMeanLam) {
  MixPolicy policy = gmix(Form::calibrated);
  policy.method.set("alpha", 1);
  const MixPlan plan = test::draw_samples(policy, {9, 12}, 4, 500);
  for (const MixEntry& entry : plan.entries) {
    if (1 - entry.lam < 1.0 / 108) continue;  // less than a pixel: clamped, see below
    ASSERT_NEAR(test::mean_of(test::values_of(plan, entry)), entry.lam, kExact);
    ASSERT_EQ(entry.label_weight, entry.lam);
  }
}

TEST(GMix, CalibratedShowsOnePixelOfThePartnerAtLeast) {
  MixPolicy policy = gmix(Form::calibrated);
  policy.method.set("lam", 0.999);
  const MixPlan plan = test::draw_samples(policy, {5, 8}, 5, 20);
  for (const MixEntry& entry : plan.entries) {
    EXPECT_NEAR(entry.label_weight, 1 - 1.0 / 40, kExact);
    EXPECT_NEAR(test::mean_of(test::values_of(plan, entry)), 1 - 1.0 / 40, kExact);
  }
}

TEST(GMix, CentersAreUniform) {
  constexpr ImageSize kSize{6, 9};
  std::vector<std::int64_t> counts(54);
  for (const MixEntry& entry : test::draw_samples(gmix(Form::code), kSize, 6, 20000).entries) {
    const auto& mask = std::get<GaussianMask>(entry.mask);
    ++counts.at(static_cast<std::size_t>(mask.cy) * 9 + static_cast<std::size_t>(mask.cx));
  }
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(53));
}

/// Mean weight of the partner over all pixels and centers, for the mask that the method draws.
double mean_partner(Form form, double lam, std::int32_t n) {
  MixPolicy policy = gmix(form);
  policy.method.set("lam", lam);
  const MixPlan plan = test::draw_samples(policy, {n, n}, 7, 1);
  auto mask = std::get<GaussianMask>(plan.entries[0].mask);
  double sum = 0;
  for (mask.cy = 0; mask.cy < n; ++mask.cy) {
    for (mask.cx = 0; mask.cx < n; ++mask.cx) {
      const double mean = gaussian_kernel_mean(mask, {n, n});
      sum += mask.peak == Peak::own ? 1 - mean : mean;
    }
  }
  return sum / (n * n);
}

TEST(GMix, HasThePublishedMeansOnFiniteImages) {
  constexpr double kDigits = 0.001;  // three digits, of which the last is not always rounded
  struct Figure {
    double lam;
    double paper;
    double code;
  };
  constexpr Figure kOn64[] = {
      {0.3, 0.554, 0.796}, {0.5, 0.467, 0.300}, {0.65, 0.377, 0.231}, {0.8, 0.255, 0.147}};
  for (const Figure& f : kOn64) {
    EXPECT_NEAR(mean_partner(Form::paper, f.lam, 64), f.paper, kDigits) << f.lam;
    EXPECT_NEAR(mean_partner(Form::code, f.lam, 64), f.code, kDigits) << f.lam;
  }
  constexpr Figure kOn32[] = {{0.9, 0.147, 0.081},
                              {0.8, 0.255, 0.147},
                              {0.7, 0.341, 0.205},
                              {0.6, 0.410, 0.255},
                              {0.5, 0.467, 0.301}};
  for (const Figure& f : kOn32) {
    EXPECT_NEAR(mean_partner(Form::paper, f.lam, 32), f.paper, kDigits) << f.lam;
    EXPECT_NEAR(mean_partner(Form::code, f.lam, 32), f.code, kDigits) << f.lam;
  }
}

TEST(GMix, HasTheExactMeansAtHalf) {
  EXPECT_NEAR(mean_partner(Form::paper, 0.5, 64), 0.4668928559267208, kExact);
  EXPECT_NEAR(mean_partner(Form::code, 0.5, 64), 0.30031710252539834, kExact);
}

TEST(GMix, DrawsLamFromBetaOfOneHalfByDefault) {
  constexpr std::size_t kDraws = 20000;
  std::vector<double> lams;
  for (const MixEntry& entry : test::draw_samples(gmix(Form::code), {4, 4}, 8, kDraws).entries) {
    lams.push_back(entry.lam);
  }
  EXPECT_LT(test::beta_ks_distance(lams, 0.5, 0.5), test::ks_bound(kDraws));
}

}  // namespace
}  // namespace medley
