#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

MixPolicy fmix(double lam, double soft = 0) {
  MixPolicy policy;
  policy.method = "fmix";
  policy.method.set("lam", lam);
  policy.method.set("soft", soft);
  return policy;
}

TEST(FMix, AnyDecayGivesNoise) {
  MixPolicy policy = fmix(0.5);
  policy.method.set("decay", 1000);  // all but the lowest frequencies vanish
  const MixPlan plan = test::draw_samples(policy, {8, 8}, 3, 4);
  EXPECT_NE(test::values_of(plan, plan.entries[0]), test::values_of(plan, plan.entries[1]));
}

TEST(FMix, TakesLamOfThePixelsRoundedUpOrDownEquallyOften) {
  constexpr std::size_t kDraws = 2000;
  constexpr ImageSize kSize{5, 7};
  for (const double lam : {0.1, 0.5, 0.77}) {  // 3.5, 17.5 and 26.95 pixels
    const MixPlan plan = test::draw_samples(fmix(lam), kSize, 1, kDraws);
    double up = 0;
    for (const MixEntry& entry : plan.entries) {
      const auto values = test::values_of(plan, entry);
      ASSERT_TRUE(std::ranges::all_of(values, [](double v) { return v == 0 || v == 1; }));
      const double ones = 35 * test::mean_of(values);
      const bool is_up = std::abs(ones - std::ceil(35 * lam)) < 0.5;
      ASSERT_TRUE(is_up || std::abs(ones - std::floor(35 * lam)) < 0.5) << ones;
      up += is_up ? 1 : 0;
    }
    EXPECT_NEAR(up / kDraws, 0.5, test::frequency_bound(0.5, kDraws)) << lam;
  }
}

/// Mean power of the masks at frequency (ky, kx) in cycles per image.
double mean_power(const MixPlan& plan, int ky, int kx) {
  const ImageSize size = plan.size;
  double sum = 0;
  for (const MixEntry& entry : plan.entries) {
    const auto values = test::values_of(plan, entry);
    std::complex<double> coefficient = 0;
    std::size_t at = 0;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x, ++at) {
        const double turns =
            static_cast<double>(ky * y) / size.height + static_cast<double>(kx * x) / size.width;
        coefficient += values[at] * std::polar(1.0, -2 * std::numbers::pi * turns);
      }
    }
    sum += std::norm(coefficient);
  }
  return sum / static_cast<double>(plan.entries.size());
}

/// Power is about exponentially distributed: the mean of n has a relative deviation 1/sqrt(n), and
/// the ratio of two means that of both.
constexpr std::size_t kMasks = 1000;
const double kChance = 1 + test::kSigmas * std::sqrt(2.0 / kMasks);

TEST(FMix, HasTheSamePowerInAllDirections) {
  const MixPlan plan = test::draw_samples(fmix(0.5), {16, 16}, 2, kMasks);
  for (const int k : {1, 2, 3}) {
    const double ratio = mean_power(plan, k, 0) / mean_power(plan, 0, k);
    EXPECT_GT(ratio, 1 / kChance) << k;
    EXPECT_LT(ratio, kChance) << k;
    const double diagonals = mean_power(plan, k, k) / mean_power(plan, k, -k);
    EXPECT_GT(diagonals, 1 / kChance) << k;
    EXPECT_LT(diagonals, kChance) << k;
  }
}

TEST(FMix, LosesHalfThePowerAcrossRowsInTheFormOfTheCode) {
  MixPolicy policy = fmix(0.5);
  policy.method.set("form", Form::code);
  const MixPlan plan = test::draw_samples(policy, {16, 16}, 2, kMasks);
  const double ratio = mean_power(plan, 1, 0) / mean_power(plan, 0, 1);
  EXPECT_LT(ratio, 1 / kChance);
  EXPECT_GT(ratio, 1 / (2 * kChance));
}

TEST(FMix, PowerFallsWithFrequency) {
  const MixPlan plan = test::draw_samples(fmix(0.5), {16, 16}, 3, 200);
  EXPECT_GT(mean_power(plan, 1, 0), 4 * mean_power(plan, 3, 0));
  EXPECT_GT(mean_power(plan, 0, 1), 4 * mean_power(plan, 0, 3));
}

/// Mean number of neighbors that differ, per mask.
double mean_edges(double decay) {
  MixPolicy policy = fmix(0.5);
  policy.method.set("decay", decay);
  const MixPlan plan = test::draw_samples(policy, {16, 16}, 4, 100);
  double edges = 0;
  for (const MixEntry& entry : plan.entries) {
    const auto values = test::values_of(plan, entry);
    for (std::size_t i = 0; i + 16 < values.size(); ++i) {
      edges += std::abs(values[i] - values[i + 16]);
    }
  }
  return edges / 100;
}

TEST(FMix, DecaySmoothsTheContours) {
  EXPECT_GT(mean_edges(0), 2 * mean_edges(1.5));
  EXPECT_GT(mean_edges(1.5), 1.2 * mean_edges(4));
}

TEST(FMix, SoftEdgeFallsEvenlyFromOneToZero) {
  constexpr ImageSize kSize{10, 10};
  constexpr std::size_t kEdge = 20;  // 2 * int(100 * 0.1) pixels
  const MixPlan plan = test::draw_samples(fmix(0.4, 0.1), kSize, 5, 50);
  for (const MixEntry& entry : plan.entries) {
    auto values = test::values_of(plan, entry);
    std::ranges::sort(values, std::greater<>());
    for (std::size_t rank = 0; rank < 30; ++rank) ASSERT_EQ(values[rank], 1) << rank;
    for (std::size_t i = 0; i < kEdge; ++i) {
      ASSERT_FLOAT_EQ(static_cast<float>(values[30 + i]),
                      static_cast<float>(1 - static_cast<double>(i) / (kEdge - 1)))
          << i;
    }
    for (std::size_t rank = 50; rank < 100; ++rank) ASSERT_EQ(values[rank], 0) << rank;
  }
}

TEST(FMix, SoftEdgeStaysInTheImage) {
  for (const double lam : {0.0, 0.02, 0.5, 0.98, 1.0}) {
    const MixPlan plan = test::draw_samples(fmix(lam, 1), {7, 9}, 6, 50);
    for (const MixEntry& entry : plan.entries) {
      // An edge of 2 floor(N min(lam, 1-lam)) ranks around n keeps the mean within a pixel of lam.
      ASSERT_NEAR(entry.label_weight, lam, 1.0 / 63);
    }
  }
}

}  // namespace
}  // namespace medley
