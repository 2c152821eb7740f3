#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/box.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr double kExact = 1e-12;
constexpr ImageSize kSize{13, 10};
constexpr Placement kPlacements[] = {Placement::clipped, Placement::inside, Placement::wrap};

MixPolicy hmix(double ratio, Form form = Form::code, Placement placement = Placement::clipped) {
  MixPolicy policy;
  policy.method = "hmix";
  policy.method.set("ratio", ratio);
  policy.method.set("form", form);
  policy.method.set("placement", placement);
  return policy;
}

TEST(HMix, HasMeanLamInEveryDraw) {
  for (const Placement placement : kPlacements) {
    for (const double ratio : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const MixPlan plan = test::draw_samples(hmix(ratio, Form::code, placement), kSize, 1, 300);
      for (const MixEntry& entry : plan.entries) {
        ASSERT_NEAR(test::mean_of(test::values_of(plan, entry)), entry.lam, kExact);
        ASSERT_EQ(entry.label_weight, entry.lam);
      }
    }
  }
}

TEST(HMix, OfRatioZeroIsMixup) {
  for (const Form form : {Form::code, Form::paper}) {
    const MixPlan plan = test::draw_samples(hmix(0, form), kSize, 2, 300);
    const MixPlan mixup = test::draw_samples({}, kSize, 2, 300);
    for (std::size_t i = 0; i < plan.entries.size(); ++i) {
      ASSERT_EQ(plan.entries[i].lam, mixup.entries[i].lam);
      ASSERT_EQ(plan.entries[i].partner, mixup.entries[i].partner);
      for (const double value : test::values_of(plan, plan.entries[i])) {
        ASSERT_DOUBLE_EQ(value, mixup.entries[i].lam);
      }
    }
  }
}

/// Entries of the paper's form at ratio 1, and of cutmix, for the same draws.
struct Twins {
  std::vector<MixEntry> hmix;
  std::vector<MixEntry> cutmix;
};

Twins twins(MixPolicy policy, std::int64_t count) {
  Twins entries;
  entries.hmix = test::draw_samples(policy, kSize, 3, count).entries;
  const Method method = policy.method;
  policy.method = "cutmix";
  for (const char* option : {"alpha", "lam", "placement"}) {
    policy.method.set(option, method.get(option));
  }
  entries.cutmix = test::draw_samples(policy, kSize, 3, count).entries;
  return entries;
}

TEST(HMix, OfRatioOneInThePapersFormIsCutmixBitForBit) {
  for (const Placement placement : kPlacements) {
    for (const double alpha : {0.2, 1.0, 3.0}) {
      MixPolicy policy = hmix(1, Form::paper, placement);
      policy.method.set("alpha", alpha);
      const Twins entries = twins(policy, 1000);
      for (std::size_t i = 0; i < entries.hmix.size(); ++i) {
        ASSERT_EQ(entries.hmix[i], entries.cutmix[i]) << "lam " << entries.hmix[i].lam;
      }
    }
  }
}

TEST(HMix, OfRatioOneInThePapersFormIsCutmixForEveryFixedLam) {
  for (const double lam : {0.0, 1e-300, 1e-9, 0.1, 0.3, 1.0 / 3, 0.7, 1.0}) {
    MixPolicy policy = hmix(1, Form::paper);
    policy.method.set("lam", lam);
    const Twins entries = twins(policy, 20);
    EXPECT_EQ(entries.hmix, entries.cutmix) << lam;
  }
}

TEST(HMix, BlendsOutsideByThePapersFormula) {
  MixPolicy policy = hmix(0.75, Form::paper, Placement::inside);
  policy.method.set("lam", 0.5);
  const MixPlan plan = test::draw_samples(policy, {32, 32}, 5, 1);
  const auto& box = std::get<BoxMask>(plan.entries[0].mask);
  EXPECT_NEAR(box.outside, 0.5 / (1 - 0.5 * 0.75), kExact);
  EXPECT_EQ(box.inside, 0);
  EXPECT_NEAR(plan.entries[0].label_weight, 0.51797, 5e-6);  // the mean that theory 2.4 quotes
}

TEST(HMix, HasABoxOfTheRatiosShare) {
  const MixPlan plan = test::draw_samples(hmix(0.3, Form::code, Placement::inside), kSize, 6, 300);
  for (const MixEntry& entry : plan.entries) {
    const auto& box = std::get<BoxMask>(entry.mask);
    EXPECT_EQ(box.height, box_side(13, (1 - entry.lam) * 0.3));
    EXPECT_EQ(box.width, box_side(10, (1 - entry.lam) * 0.3));
  }
}

TEST(HMix, RoundsExactProductsAsThePublishedCode) {
  // 32 sqrt(3/4) sqrt(3/4) is 24 in exact numbers and 23.999... in double precision.
  struct Fact {
    double lam, ratio;
    std::int32_t side;
  };
  for (const auto& [lam, ratio, side] : {
           Fact{0.25, 0.75, 23},
           {0.5, 0.5, 16},
           {0.75, 0.25, 8},
           {0.625, 0.375, 11},
           {0.36, 0.64, 20},
           {0.25, 1, 27},
           {0, 1, 32},
       }) {
    MixPolicy policy = hmix(ratio, Form::code, Placement::inside);
    policy.method.set("lam", lam);
    const MixPlan plan = test::draw_samples(policy, {32, 32}, 10, 1);
    const auto& box = std::get<BoxMask>(plan.entries[0].mask);
    EXPECT_EQ(box.height, side) << lam << ", " << ratio;
    EXPECT_EQ(box.width, side) << lam << ", " << ratio;
  }
}

TEST(HMix, DrawsItsRatioFromABetaDistribution) {
  // On a large image with fixed lam the side tells the ratio: r = s^2 / ((1 - lam) n^2), rounded
  // down by a pixel of 20000 at most.
  constexpr std::size_t kDraws = 5000;
  constexpr std::int32_t kSide = 20000;
  constexpr double kRoot = 1.0 / kSide;  // error of sqrt(r), where the CDF has slope <= pi / 2 ...
  MixPolicy policy = hmix(0.5, Form::code, Placement::inside);
  policy.method.set("lam", 0);
  policy.method.set("gamma", 2);
  std::vector<double> ratios;
  for (const MixEntry& entry : test::draw_samples(policy, {kSide, 2}, 7, kDraws).entries) {
    const double root = std::get<BoxMask>(entry.mask).height / static_cast<double>(kSide);
    ratios.push_back(root * root);
  }
  // Beta(2, 2) has density 1.5 at most and dr = 2 sqrt(r) d sqrt(r).
  EXPECT_LT(test::beta_ks_distance(ratios, 2, 2), test::ks_bound(kDraws) + 1.5 * 2 * kRoot);
}

TEST(HMix, OfRandomRatioHasMeanLamToo) {
  MixPolicy policy = hmix(0.5);
  policy.method.set("gamma", 0.3);
  const MixPlan plan = test::draw_samples(policy, kSize, 8, 300);
  for (const MixEntry& entry : plan.entries) {
    ASSERT_NEAR(test::mean_of(test::values_of(plan, entry)), entry.lam, kExact);
  }
}

TEST(HMix, IsCalibratedAlready) {
  EXPECT_EQ(test::draw_samples(hmix(0.5, Form::calibrated), kSize, 9, 50).entries,
            test::draw_samples(hmix(0.5, Form::code), kSize, 9, 50).entries);
}

}  // namespace
}  // namespace medley
