#include "core/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace medley::test {
namespace {

/// Lentz's evaluation of the continued fraction of the incomplete beta function; converges quickly
/// for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxTerms = 10000;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return value;
}

}  // namespace

double ks_bound(std::size_t n) {
  return std::sqrt(std::log(2 / kFalseAlarm) / (2 * static_cast<double>(n)));
}

double ks_distance(std::vector<double> draws, const std::function<double(double)>& cdf) {
  std::ranges::sort(draws);
  const auto n = static_cast<double>(draws.size());
  double distance = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double f = cdf(draws[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, std::abs(rank / n - f), std::abs((rank + 1) / n - f)});
  }
  return distance;
}

double beta_cdf(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double log_x = x < 0.5 ? std::log(x) : std::log1p(-y);
  const double log_y = y < 0.5 ? std::log(y) : std::log1p(-x);
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * log_x + b * log_y);
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, y) / b;
}

double beta_ks_distance(std::vector<double> draws, double a, double b) {
  std::ranges::sort(draws);
  const auto n = static_cast<double>(draws.size());
  const double smallest = std::exp(-708.0);
  double distance = 0;
  for (std::size_t begin = 0; begin < draws.size();) {
    const double x = draws[begin];
    std::size_t end = begin;
    while (end < draws.size() && draws[end] == x) ++end;
    // Half the gaps to the neighbors of x; above 1/2 the complement is exact, and below 1/2 the
    // gaps do not matter.
    const double down = (x - std::nextafter(x, 0.0)) / 2;
    const double up = (std::nextafter(x, 2.0) - x) / 2;
    const double below = x == 0 ? 0 : beta_cdf(a, b, x - down, (1 - x) + down);
    const double through = x == 0   ? beta_cdf(a, b, smallest, 1)
                           : x == 1 ? 1
                                    : beta_cdf(a, b, x + up, (1 - x) - up);
    distance = std::max({distance, std::abs(static_cast<double>(begin) / n - below),
                         std::abs(static_cast<double>(end) / n - through)});
    begin = end;
  }
  return distance;
}

double chi_square(std::span<const std::int64_t> counts) {
  const std::vector<double> equal(counts.size(), 1.0 / static_cast<double>(counts.size()));
  return chi_square(counts, equal);
}

double chi_square(std::span<const std::int64_t> counts, std::span<const double> probabilities) {
  const auto total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    const double difference = static_cast<double>(counts[i]) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

double chi_square_bound(std::size_t degrees_of_freedom) {
  constexpr double kOneSided = 4.7534;  // normal deviate exceeded with chance kFalseAlarm
  const double spread = 2 / (9 * static_cast<double>(degrees_of_freedom));
  const double root = 1 - spread + kOneSided * std::sqrt(spread);
  return static_cast<double>(degrees_of_freedom) * root * root * root;
}

double frequency_bound(double p, std::size_t n) {
  return kSigmas * std::sqrt(p * (1 - p) / static_cast<double>(n));
}

}  // namespace medley::test
