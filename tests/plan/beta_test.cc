#include "plan/beta.h"

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr std::uint64_t kSeed = 1001;

std::vector<double> beta_draws(double a, double b, std::size_t count) {
  RandomStream random(kSeed, 0, 0, Purpose::lam);
  std::vector<double> draws;
  for (std::size_t i = 0; i < count; ++i) draws.push_back(draw_beta(random, a, b));
  return draws;
}

struct Shape {
  double a;
  double b;

  [[nodiscard]] std::string name() const { return test::test_name(fmt::format("{}_{}", a, b)); }
  friend std::ostream& operator<<(std::ostream& out, const Shape& s) { return out << s.name(); }
};

class DrawBeta : public testing::TestWithParam<Shape> {};

TEST_P(DrawBeta, FollowsTheBetaDistribution) {
  constexpr std::size_t kDraws = 50000;
  const auto [a, b] = GetParam();
  EXPECT_LT(test::beta_ks_distance(beta_draws(a, b, kDraws), a, b), test::ks_bound(kDraws));
}

TEST_P(DrawBeta, HasTheMeanAndVarianceOfTheBetaDistribution) {
  constexpr std::size_t kDraws = 50000;
  const auto [a, b] = GetParam();
  const double mean = a / (a + b);
  const double variance = mean * (1 - mean) / (a + b + 1);
  double sum = 0, squares = 0;
  for (const double x : beta_draws(a, b, kDraws)) {
    sum += x;
    squares += (x - mean) * (x - mean);
  }
  EXPECT_NEAR(sum / kDraws, mean, test::kSigmas * std::sqrt(variance / kDraws));
  // On [0, 1] the variance of (x - mean)^2 is at most its mean.
  EXPECT_NEAR(squares / kDraws, variance, test::kSigmas * std::sqrt(variance / kDraws));
}

INSTANTIATE_TEST_SUITE_P(Shapes, DrawBeta,
                         testing::Values(Shape{0.001, 0.001}, Shape{0.1, 0.1}, Shape{0.2, 0.2},
                                         Shape{0.5, 0.5}, Shape{0.8, 0.8}, Shape{1, 1}, Shape{2, 2},
                                         Shape{10, 10}, Shape{1000, 1000}, Shape{0.2, 3},
                                         Shape{5, 0.5}, Shape{1, 4}, Shape{2, 1}, Shape{0.01, 1}),
                         [](const auto& param) { return param.param.name(); });

TEST(DrawBeta, StaysInTheUnitIntervalForExtremeParameters) {
  for (const double a : {1e-310, 1e-308, 1e-300, 1e-20, 1e-3, 1.0, 1e3, 1e20, 1e300, 1e308}) {
    for (const double b : {1e-310, 1e-300, 1.0, 1e300}) {
      for (const double x : beta_draws(a, b, 200)) {
        ASSERT_TRUE(x >= 0 && x <= 1) << "Beta(" << a << ", " << b << ") gave " << x;
      }
    }
  }
}

TEST(DrawBeta, OfVanishingParametersIsACoin) {
  constexpr std::size_t kDraws = 20000;
  double ones = 0;
  for (const double x : beta_draws(1e-308, 1e-308, kDraws)) {
    ASSERT_TRUE(x == 0 || x == 1) << x;
    ones += x;
  }
  EXPECT_NEAR(ones / kDraws, 0.5, test::frequency_bound(0.5, kDraws));
}

TEST(DrawBeta, OfHugeParametersIsTheirMean) {
  for (const double x : beta_draws(1e300, 1e300, 100)) EXPECT_NEAR(x, 0.5, 1e-12);
}

class DrawDirichlet : public testing::TestWithParam<Shape> {};  // a: parameter, b: dimension

TEST_P(DrawDirichlet, HasTheMomentsOfTheDirichletDistribution) {
  constexpr std::size_t kDraws = 30000;
  const double a = GetParam().a;
  const auto n = static_cast<std::size_t>(GetParam().b);
  RandomStream random(kSeed, 0, 1, Purpose::lam);
  std::vector<double> weights(n), sums(n), squares(n);
  double products = 0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    draw_dirichlet(random, a, weights);
    for (std::size_t k = 0; k < n; ++k) {
      sums[k] += weights[k];
      squares[k] += weights[k] * weights[k];
    }
    products += weights[0] * weights[1];
  }
  const auto terms = static_cast<double>(n);
  const double total = a * terms;
  const double mean = 1 / terms;
  const double second = a * (a + 1) / (total * (total + 1));  // E w^2
  const double cross = a * a / (total * (total + 1));         // E w_j w_k
  // Values in [0, 1] with mean m have a variance of at most m (1 - m).
  const auto bound = [](double m) { return test::kSigmas * std::sqrt(m * (1 - m) / kDraws); };
  for (std::size_t k = 0; k < n; ++k) {
    EXPECT_NEAR(sums[k] / kDraws, mean, bound(mean)) << "weight " << k;
    EXPECT_NEAR(squares[k] / kDraws, second, bound(second)) << "weight " << k;
  }
  EXPECT_NEAR(products / kDraws, cross, bound(cross));
}

TEST_P(DrawDirichlet, FirstWeightFollowsItsBetaDistribution) {
  constexpr std::size_t kDraws = 30000;
  const auto n = static_cast<std::size_t>(GetParam().b);
  RandomStream random(kSeed, 0, 2, Purpose::lam);
  std::vector<double> weights(n), firsts;
  for (std::size_t i = 0; i < kDraws; ++i) {
    draw_dirichlet(random, GetParam().a, weights);
    firsts.push_back(weights[0]);
  }
  EXPECT_LT(test::beta_ks_distance(firsts, GetParam().a, GetParam().a * (GetParam().b - 1)),
            test::ks_bound(kDraws));
}

TEST_P(DrawDirichlet, WeightsSumToOne) {
  constexpr double kRounding = 1e-14;
  const auto n = static_cast<std::size_t>(GetParam().b);
  RandomStream random(kSeed, 0, 3, Purpose::lam);
  std::vector<double> weights(n);
  for (int i = 0; i < 1000; ++i) {
    draw_dirichlet(random, GetParam().a, weights);
    ASSERT_NEAR(test::mean_of(weights) * GetParam().b, 1, kRounding);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, DrawDirichlet,
                         testing::Values(Shape{0.2, 2}, Shape{1, 2}, Shape{1, 3}, Shape{0.5, 4},
                                         Shape{5, 3}, Shape{0.3, 10}),
                         [](const auto& param) { return param.param.name(); });

TEST(DrawDirichlet, OfVanishingParameterPicksOne) {
  RandomStream random(kSeed, 0, 4, Purpose::lam);
  std::vector<double> weights(3);
  std::vector<std::int64_t> picked(3);
  for (int i = 0; i < 3000; ++i) {
    draw_dirichlet(random, 1e-308, weights);
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_TRUE(weights[k] == 0 || weights[k] == 1) << weights[k];
      if (weights[k] == 1) ++picked[k];
    }
  }
  EXPECT_LT(test::chi_square(picked), test::chi_square_bound(2));
}

}  // namespace
}  // namespace medley
