#include "medley/theory/beta_law.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "core/check.h"

namespace medley::theory {
namespace {

constexpr int kPanelNodes = 20;
/// Within a panel the distance to a singular end grows by at most this factor; 20 nodes are then
/// exact to 1e-15 for any power of that distance.
constexpr double kGrowth = 3;
/// Panels that would end closer than this to 0 or 1 reach the end instead.
constexpr double kEnd = 0.25;

void check_parameters(double a, double b) {
  if (!(std::isfinite(a) && a > 0 && std::isfinite(b) && b > 0)) {
    fail_argument(fmt::format("alpha and beta must be > 0, got {} and {}", a, b));
  }
}

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// Continued fraction of the incomplete Beta function by Lentz's method; x < (a+1)/(a+b+2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double result = d;
  for (int i = 1; i < 10000; ++i) {
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

/// Adds the panel [lo, hi]. A panel may touch 0 or 1 or both.
void add_panel(double a, double b, double lo, double hi, std::vector<Node>& rule) {
  const double mass = beta_cell_moment(a, b, lo, hi, 0);
  if (!(mass > 0)) return;
  const bool at_zero = lo <= 0;
  const bool at_one = hi >= 1;
  const std::size_t begin = rule.size();
  double sum = 0;
  for (const Node& node : jacobi_nodes(at_one ? b - 1 : 0, at_zero ? a - 1 : 0, kPanelNodes)) {
    const double x = lo + (hi - lo) * (1 + node.x) / 2;
    double weight = node.weight;
    if (!at_zero) weight *= std::pow(x / hi, a - 1);
    if (!at_one) weight *= std::pow((1 - x) / (1 - lo), b - 1);
    rule.push_back({x, weight});
    sum += weight;
  }
  for (std::size_t i = begin; i < rule.size(); ++i) rule[i].weight *= mass / sum;
}

}  // namespace

double beta_cdf(double a, double b, double x) {
  check_parameters(a, b);
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
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
  if (lo <= 0 && hi >= 1) return beta_nodes(a, b, 2 * kPanelNodes);
  double at = lo;
  while (at < hi) {
    double next = at > 0 ? std::min(hi, at * kGrowth) : hi;
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
