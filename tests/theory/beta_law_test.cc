#include "moments/beta_law.h"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace medley::theory {
namespace {

TEST(BetaLaw, HasTheIncompleteBetaFunction) {
  struct Fact {
    double a, b, x, probability;
  };
  // Hypergeometric series with 60 digits.
  for (const auto& [a, b, x, probability] : {
           Fact{1, 1e15, 1e-15, 0.63212055882855789},
           {0.3, 1e12, 1e-13, 0.54591284959175102},
           {5, 1e9, 3e-9, 0.18473675724055717},
           {29.5, 1e7, 3e-6, 0.56075883695475936},
           {0.2, 40, 1e-3, 0.56730396406772067},
           {31, 30, 0.5, 0.44871091349571524},
           {0.5, 1e5, 2e-5, 0.95450054597303223},
           {1, 1e12, 3e-12, 0.95021293163236011},
           {20, 1e15, 2.5e-14, 0.86642516591437247},
           {1e12, 2, 1 - 0x1p-38, 0.12200415985206114},
           {1e15, 0.7, 1 - 0x1p-49, 0.097865876511148328},
           {1e6, 0.5, 1 - 0x1p-21, 0.32878579463894015},
           {1e12, 2, 1 - 0x1p-40, 0.76900635251646359},
           {1e15, 1, 1 - 0x1p-50, 0.41140447690514075},
       }) {
    EXPECT_NEAR(beta_cdf(a, b, x), probability, 1e-13 * probability) << a << " " << b << " " << x;
  }
}

TEST(BetaLaw, PartsGiveTheMomentsOfTheWhole) {
  using Parameters = std::pair<double, double>;
  for (const auto& [a, b] : {Parameters(1, 1),
                             {0.2, 0.3},
                             {0.01, 1000},
                             {2, 5000},
                             {50, 0.5},
                             {3000, 3000},
                             {1e5, 20},
                             {1e6, 2e6},
                             {4e8, 4e8},
                             {1e9, 1e9},
                             {1e12, 3e12},
                             {1e15, 1e15}}) {
    double mass = 0;
    double first = 0;
    double square = 0;
    const double mean = a / (a + b);
    for (int i = 0; i < 7; ++i) {
      for (const Node& node : beta_nodes_between(a, b, i / 7.0, (i + 1) / 7.0)) {
        ASSERT_TRUE(std::isfinite(node.weight)) << a << " " << b;
        mass += node.weight;
        first += node.weight * node.x;
        square += node.weight * (node.x - mean) * (node.x - mean);
      }
    }
    const double variance = a / (a + b) * b / (a + b) / (a + b + 1);
    EXPECT_NEAR(mass, 1, 1e-9) << a << " " << b;
    EXPECT_NEAR(first, mean, 1e-9 * mean) << a << " " << b;
    // Nodes beside 1 are rounded.
    if (a < 1e20) {
      EXPECT_NEAR(square, variance, 1e-6 * variance) << a << " " << b;
    }
  }
}

TEST(BetaLaw, HasPartsFarBelowTheMean) {
  for (const auto& [a, b] : {std::pair(0.2, 0.2), {1.5, 3.0}}) {
    for (const double lo : {1e-14, 1e-16, 1e-18, 1e-100}) {
      // There (1 - x)^(b - 1) is 1, so moments on [lo, hi] are those of a power.
      const double hi = 10 * lo;
      const double scale = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
      const auto moment = [&, p = a](int k) {
        return scale * (std::pow(hi, p + k) - std::pow(lo, p + k)) / (p + k);
      };
      double mass = 0;
      double first = 0;
      for (const Node& node : beta_nodes_between(a, b, lo, hi)) {
        mass += node.weight;
        first += node.weight * node.x;
      }
      EXPECT_NEAR(mass, moment(0), 1e-9 * moment(0)) << a << " " << lo;
      EXPECT_NEAR(first, moment(1), 1e-9 * moment(1)) << a << " " << lo;
    }
  }
  EXPECT_EQ(beta_cdf(50, 70, 1e-20), 0);
}

}  // namespace
}  // namespace medley::theory
