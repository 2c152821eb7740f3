#include "moments/beta_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "core/check.h"

namespace medley::theory {
namespace {

constexpr int kPanelNodes = 20;
/// Within a panel the distance to a singular end grows by at most this factor; 20 nodes are then
/// exact to 1e-15 for any power of that distance.
constexpr double kGrowth = 3;
/// Panels are at most so many times as wide as the law, and none is further from its mean than
/// kReach times that.
constexpr double kPanelWidth = 4;
constexpr double kReach = 60;
/// A law that reaches less far than this from its mean, relatively, has no panels between numbers.
constexpr double kPoint = 1e-15;
/// Panels that would end closer than this to 0 or 1 reach the end instead.
constexpr double kEnd = 0.25;

void check_parameters(double a, double b) {
  if (!(std::isfinite(a) && a > 0 && std::isfinite(b) && b > 0)) {
    fail_argument(fmt::format("alpha and beta must be > 0, got {} and {}", a, b));
  }
}

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

double mean_of(double a, double b) { return a / (a + b); }
double deviation_of(double a, double b) {
  return std::sqrt(a / (a + b) * (b / (a + b)) / (a + b + 1));
}

/// What Stirling's formula leaves of log Gamma(z), to 1e-16 for z >= kLarge.
constexpr double kLarge = 30;
double stirling_rest(double z) {
  const double w = 1 / (z * z);
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - w / 1680) * w) * w) / z;
}

/// log(Gamma(a + b) / (Gamma(a) Gamma(b)) / n^a) for a < kLarge <= b, n = a + b: the large terms of
/// log Gamma(n) - log Gamma(b) are gone.
double log_small_factor(double a, double b) {
  return (b - 0.5) * std::log1p(a / b) - a - std::lgamma(a) + stirling_rest(a + b) -
         stirling_rest(b);
}

/// log(x / mean), where `excess` is x / mean - 1 without cancellation. Far below the mean log1p
/// would cancel instead, down to NaN.
double log_ratio(double x, double mean, double excess) {
  return x < mean / 2 ? std::log(x / mean) : std::log1p(excess);
}

/// x^a (1-x)^b / B(a, b).
double density_factor(double a, double b, double x) {
  const double n = a + b;
  if (std::max(a, b) < kLarge) {
    return std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  }
  if (a < kLarge) {
    return std::exp(a * std::log(x * n) + b * std::log1p(-x) + log_small_factor(a, b));
  }
  if (b < kLarge) {
    return std::exp(a * std::log(x) + b * std::log((1 - x) * n) + log_small_factor(b, a));
  }
  // Relative to the mean, again lest large logarithms cancel.
  const double mean = mean_of(a, b);
  const double from_mean = (x - mean) * n;
  const double log_factor =
      a * log_ratio(x, mean, from_mean / a) + b * log_ratio(1 - x, mean_of(b, a), -from_mean / b);
  return std::exp(log_factor - stirling_rest(a) - stirling_rest(b) + stirling_rest(n)) *
         std::sqrt(a / n * b / (2 * std::numbers::pi));
}

/// Continued fraction of the incomplete Beta function by Lentz's method; x < (a+1)/(a+b+2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double result = d;
  for (int i = 1; i < 1'000'000; ++i) {
    const double m = i;
    const auto step = [&](double numerator) {
      d = 1 + numerator * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + numerator / c;
      if (std::abs(c) < kTiny) c = kTiny;
      return c * d;
    };
    result *= step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    const double change = step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    result *= change;
    if (std::abs(change - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return result;
}

/// Power series of the incomplete Beta function for a < kLarge <= b: a sum of positive terms, where
/// the fraction of the other side takes 1 - x and so loses digits of x.
double beta_series(double a, double b, double x) {
  double term = 1;
  double sum = 1;
  for (int k = 0; term > std::numeric_limits<double>::epsilon() / 2 * sum; ++k) {
    term *= (a + b + k) / (a + 1 + k) * x;
    sum += term;
  }
  return sum;
}

/// Where the series is better: x is small, and takes some hundred terms. Beyond, the other side has
/// no probability.
bool takes_series(double a, double b, double x) {
  return a < kLarge && b >= kLarge && x < std::min(1e-3, 300 / (a + b));
}

/// Gauss rule on [-1, 1] for the weight (1-x)^right (1+x)^left, weights summing to 1
/// (Golub and Welsch: eigenvalues of the Jacobi matrix).
std::vector<Node> jacobi_nodes(double right, double left, int count) {
  const double s = right + left;
  Eigen::VectorXd diagonal(count);
  Eigen::VectorXd side(std::max(count - 1, 1));
  for (int k = 0; k < count; ++k) {
    const double t = 2 * k + s;
    diagonal(k) =
        k == 0 ? (left - right) / (s + 2) : (left - right) * (left + right) / (t * (t + 2));
    if (k == 0) continue;
    // At k = 1 a factor s + 1 cancels, which may be 0.
    const double square =
        k == 1 ? 4 * (1 + right) * (1 + left) / ((s + 2) * (s + 2) * (s + 3))
               : 4 * k * (k + right) * (k + left) * (k + s) / (t * t * (t + 1) * (t - 1));
    side(k - 1) = std::sqrt(square);
  }
  if (count == 1) return {{diagonal(0), 1}};
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, side);
  std::vector<Node> nodes;
  double sum = 0;
  for (int k = 0; k < count; ++k) {
    const double first = solver.eigenvectors()(0, k);
    nodes.push_back({solver.eigenvalues()(k), first * first});
    sum += first * first;
  }
  for (Node& node : nodes) node.weight /= sum;
  return nodes;
}

/// From here on the law is normal to 1.3e-4 and better, and sums for others lose digits.
bool is_normal(double a, double b) { return a + b > 1e9 && std::min(a, b) > 1e6; }

/// Adds the panel [lo, hi]. A panel may touch 0 or 1 or both.
void add_panel(double a, double b, double lo, double hi, std::vector<Node>& rule) {
  const double mass = beta_cell_moment(a, b, lo, hi, 0);
  if (!(mass > 0)) return;
  const bool at_zero = lo <= 0;
  const bool at_one = hi >= 1;
  const std::size_t begin = rule.size();
  // Logarithms of densities, relative to that at the mean, lest large ones cancel. Even the largest
  // density may be far below what a number can hold.
  std::vector<double> density;
  const double mean = mean_of(a, b);
  const double rest = mean_of(b, a);
  static const std::vector<Node> plain = jacobi_nodes(0, 0, kPanelNodes);
  const std::vector<Node> singular =
      at_zero || at_one ? jacobi_nodes(at_one ? b - 1 : 0, at_zero ? a - 1 : 0, kPanelNodes)
                        : std::vector<Node>{};
  for (const Node& node : singular.empty() ? plain : singular) {
    const double x = lo + (hi - lo) * (1 + node.x) / 2;
    const double left = at_zero ? 0 : (a - 1) * log_ratio(x, mean, (x - mean) / mean);
    const double right = at_one ? 0 : (b - 1) * log_ratio(1 - x, rest, (mean - x) / rest);
    density.push_back(left + right);
    rule.push_back({x, node.weight});
  }
  const double most = std::ranges::max(density);
  double sum = 0;
  for (std::size_t i = begin; i < rule.size(); ++i) {
    rule[i].weight *= std::exp(density[i - begin] - most);
    sum += rule[i].weight;
  }
  for (std::size_t i = begin; i < rule.size(); ++i) rule[i].weight *= mass / sum;
}

/// The part of a law that is one number wide; at hi itself it would count as above.
std::vector<Node> point_between(double a, double b, double lo, double hi) {
  const double mass = beta_cell_moment(a, b, lo, hi, 0);
  if (!(mass > 0)) return {};
  const double last = hi >= 1 ? 1 : std::nextafter(hi, lo);
  return {{std::clamp(mean_of(a, b), lo, last), mass}};
}

}  // namespace

double beta_cdf(double a, double b, double x) {
  check_parameters(a, b);
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  if (is_normal(a, b)) {
    return std::erfc((mean_of(a, b) - x) / deviation_of(a, b) / std::sqrt(2.0)) / 2;
  }
  const double front = density_factor(a, b, x);
  const bool below = x < (a + 1) / (a + b + 2);
  if (!below && takes_series(a, b, x)) {
    return std::min(1.0, front * beta_series(a, b, x) / a);
  }
  if (below && takes_series(b, a, 1 - x)) {
    return std::max(0.0, 1 - front * beta_series(b, a, 1 - x) / b);
  }
  if (below) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double beta_cell_moment(double a, double b, double lo, double hi, int power) {
  double factor = 1;
  for (int k = 0; k < power; ++k) factor *= (a + k) / (a + b + k);
  return factor * (beta_cdf(a + power, b, hi) - beta_cdf(a + power, b, lo));
}

std::vector<Node> beta_nodes(double a, double b, int count) {
  check_parameters(a, b);
  std::vector<Node> nodes = jacobi_nodes(b - 1, a - 1, count);
  for (Node& node : nodes) node.x = (1 + node.x) / 2;
  return nodes;
}

std::vector<Node> beta_nodes_between(double a, double b, double lo, double hi) {
  check_parameters(a, b);
  std::vector<Node> rule;
  lo = std::max(lo, 0.0);
  hi = std::min(hi, 1.0);
  if (!(lo < hi)) return rule;
  const double mean = mean_of(a, b);
  const double width = deviation_of(a, b) + 1 / (a + b + 1);  // near an end the tail is exponential
  if (kReach * width < kPoint * mean) return point_between(a, b, lo, hi);
  if (lo <= 0 && hi >= 1) return beta_nodes(a, b, 2 * kPanelNodes);
  // Where the law has its mass, in panels that it does not change much in.
  lo = std::max(lo, mean - kReach * width);
  hi = std::min(hi, mean + kReach * width);
  double at = lo;
  while (at < hi) {
    double next = std::min(hi, at + kPanelWidth * width);
    if (at > 0) next = std::min(next, at * kGrowth);
    // 1 - x must not shrink by more than the factor either, unless the panel reaches 1.
    const double limit = 1 - (1 - at) / kGrowth;
    if (next > limit && !(next >= 1 && at >= 1 - kEnd)) next = std::min(next, limit);
    if (at <= 0) next = std::min(next, 0.5);
    if (!(next > at)) next = hi;
    add_panel(a, b, at, next, rule);
    at = next;
  }
  return rule;
}

KeptLabelMoments kept_label_moments(double a, double b) {
  check_parameters(a, b);
  const double half = a * b / ((a + b) * (a + b + 1));
  return {2 * half, half};
}

}  // namespace medley::theory
