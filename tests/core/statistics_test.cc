// The instruments that other tests measure with.

#include "core/statistics.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

namespace medley::test {
namespace {

constexpr double kRounding = 1e-13;  // the continued fraction stops at 1e-15 per term

TEST(BetaCdf, MatchesClosedForms) {
  for (const double x : {1e-9, 0.01, 0.2, 0.5, 0.77, 0.999}) {
    EXPECT_NEAR(beta_cdf(1, 1, x, 1 - x), x, kRounding) << x;
    EXPECT_NEAR(beta_cdf(2, 2, x, 1 - x), x * x * (3 - 2 * x), kRounding) << x;
    EXPECT_NEAR(beta_cdf(0.5, 0.5, x, 1 - x), 2 / std::numbers::pi * std::asin(std::sqrt(x)),
                kRounding)
        << x;
    EXPECT_NEAR(beta_cdf(1, 5, x, 1 - x), 1 - std::pow(1 - x, 5), kRounding) << x;
  }
}

TEST(BetaCdf, KeepsTheTailOfTinyParameters) {
  // I_x(a, b) = x^a / (a B(a, b)) (1 + O(x)).
  constexpr double kA = 0.001;
  const double beta = std::exp(2 * std::lgamma(kA) - std::lgamma(2 * kA));
  EXPECT_NEAR(beta_cdf(kA, kA, 1e-300, 1), std::pow(1e-300, kA) / (kA * beta), 1e-12);
}

TEST(KsDistance, ExceedsItsBoundForAWrongDistribution) {
  std::vector<double> squares(1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    squares[i] = std::pow((static_cast<double>(i) + 0.5) / 1000, 2);
  }
  EXPECT_GT(ks_distance(squares, [](double x) { return x; }), ks_bound(squares.size()));
  EXPECT_LT(ks_distance(squares, [](double x) { return std::sqrt(x); }), 1e-3);
}

TEST(ChiSquare, IsThePearsonStatistic) {
  constexpr std::array<std::int64_t, 3> kCounts = {10, 20, 30};
  EXPECT_DOUBLE_EQ(chi_square(kCounts), 10.0);
}

TEST(ChiSquareBound, LiesJustAboveTheQuantile) {
  // Quantiles at 1 - 1e-6, from the incomplete gamma function; the approximation errs upwards.
  constexpr double kSlack = 1.2;
  EXPECT_NEAR(chi_square_bound(10), 46.863, kSlack);
  EXPECT_NEAR(chi_square_bound(100), 182.127, kSlack);
}

}  // namespace
}  // namespace medley::test
