#include "medley/theory/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "core/check.h"
#include "theory/check_loss.h"

namespace medley::theory {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr double kSame = 1e-9;  // relative; hypotheses hold up to rounding

Eigen::Map<const Vector> vector_of(std::span<const double> values) {
  return {values.data(), std::ssize(values)};
}

Eigen::Map<const Matrix> square_of(std::span<const double> values, Eigen::Index d,
                                   const char* name) {
  if (std::ssize(values) != d * d) {
    fail_argument(fmt::format("{} must be {}x{}, got {} values", name, d, d, values.size()));
  }
  const Eigen::Map<const Matrix> m(values.data(), d, d);
  if (!m.allFinite()) fail_argument(fmt::format("{} must be finite", name));
  return m;
}

bool constant(std::span<const double> nu) {
  const auto [low, high] = std::minmax_element(nu.begin(), nu.end());
  return *high - *low <= kSame * std::max(std::abs(*high), 1e-300);
}

bool centered(const Samples& samples) {
  const Eigen::Map<const Matrix> x(samples.x.data(), samples.count, samples.dimension);
  return x.colwise().mean().norm() <= kSame * x.norm();
}

/// How the loss changes about a sample.
struct Point {
  double loss;
  double residual;  // slope of the loss by the score
  double d2;        // its curvature
  double slope;     // norm of the gradient of the score

  /// The greatest loss within a radius, to second order.
  [[nodiscard]] double adversarial(double radius) const {
    return loss + radius * std::abs(residual) * slope + radius * radius / 2 * d2 * slope * slope;
  }
  /// The radius within which the loss may grow by that much; none if it shrinks.
  [[nodiscard]] double radius_of(double growth) const {
    if (!(growth >= 0 && slope > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (growth == 0) return 0;
    // The root of the quadratic, without the cancellation of the usual form, and without squares of
    // what may be very small.
    if (residual == 0) return std::sqrt(2 * growth / d2) / slope;
    const double step = growth / std::abs(residual);
    return 2 * step / (1 + std::sqrt(1 + 2 * d2 / std::abs(residual) * step)) / slope;
  }
};

/// Of the logistic loss. Neither loss nor slope cancels where a label is 0 or 1.
Point logistic_point(double score, double label, double slope) {
  const LinkValues to = link_values(Link::logistic, score);
  const LinkValues away = link_values(Link::logistic, -score);
  return {label * away.h + (1 - label) * to.h, (1 - label) * to.d1 - label * away.d1, to.d2, slope};
}

/// Pseudo-inverse of a symmetric matrix, eigenvalues below 1e-12 of the largest left out.
struct PseudoInverse {
  Matrix matrix;
  std::int64_t rank = 0;
  Matrix range;  // projector on it
};

PseudoInverse invert(const Matrix& m) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(m);
  const double cut = 1e-12 * std::max(solver.eigenvalues().maxCoeff(), 0.0);
  PseudoInverse result{Matrix::Zero(m.rows(), m.cols()), 0, Matrix::Zero(m.rows(), m.cols())};
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    const double value = solver.eigenvalues()(i);
    if (!(value > cut)) continue;
    const Matrix projector =
        solver.eigenvectors().col(i) * solver.eigenvectors().col(i).transpose();
    result.matrix += projector / value;
    result.range += projector;
    ++result.rank;
  }
  return result;
}

void note_range(const Matrix& sigma, const PseudoInverse& mixed, std::vector<std::string>& unmet) {
  if ((sigma - mixed.range * sigma).norm() > 1e-8 * sigma.norm()) {
    unmet.emplace_back("the range of Sigma must lie in that of Sigma^M");
  }
}

void check_class(double gamma, std::int64_t samples, double delta) {
  if (!(std::isfinite(gamma) && gamma >= 0)) {
    fail_argument(fmt::format("gamma must be >= 0, got {}", gamma));
  }
  if (samples < 1) fail_argument(fmt::format("the number of samples must be > 0, got {}", samples));
  if (!(delta > 0 && delta < 1)) {
    fail_argument(fmt::format("delta must be in (0, 1), got {}", delta));
  }
}

double deviation(double range, double delta, std::int64_t samples) {
  return range * std::sqrt(std::log(1 / delta) / (2 * static_cast<double>(samples)));
}

void check_scored(const ScoredSamples& data, const CoordinateMoments& moments) {
  const Samples& samples = data.samples;
  check_samples(samples);
  const Eigen::Index d = samples.dimension;
  if (std::ssize(data.y) != samples.count || std::ssize(data.scores) != samples.count ||
      data.gradients.size() != samples.x.size() || std::ssize(moments.mean) != d) {
    fail_argument(fmt::format(
        "{} samples of dimension {} need as many labels, scores and gradients, and moments of that "
        "dimension, got {}, {}, {} and {}",
        samples.count, d, data.y.size(), data.scores.size(), data.gradients.size(),
        moments.mean.size()));
  }
}

}  // namespace

AdversarialBound adversarial_bound(const ScoredSamples& data, const CoordinateMoments& moments) {
  const Samples& samples = data.samples;
  check_scored(data, moments);
  const Eigen::Index d = samples.dimension;
  const Eigen::Map<const Matrix> x(samples.x.data(), samples.count, d);
  const Eigen::Map<const Matrix> gradients(data.gradients.data(), samples.count, d);
  const auto nu = vector_of(moments.mean);
  const auto a = square_of(moments.second, d, "the second moments");
  const auto m = static_cast<double>(samples.count);
  const Vector mean = x.colwise().mean();
  const Matrix away = x.rowwise() - mean.transpose();
  const Matrix spread = a.cwiseProduct(away.transpose() * away / m);
  const double level = nu.mean();

  AdversarialBound result;
  std::vector<Point> points;
  double least_norm = std::numeric_limits<double>::infinity();
  double least_cosine = 1;
  bool homogeneous = true;
  bool hard = true;
  for (Eigen::Index i = 0; i < samples.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Vector g = gradients.row(i);
    const Vector gx = g.cwiseProduct(x.row(i).transpose());
    const double f = data.scores[at];
    const Point point = logistic_point(f, data.y[at], g.norm());
    AdversarialSample s;
    s.loss = point.loss;
    s.first = nu.dot(gx);
    s.second = gx.dot(a * gx) + g.dot(spread * g);
    const double growth = -point.residual * s.first + point.d2 * s.second / 2;
    s.approximate = s.loss + growth;
    s.radius = point.slope > 0 ? level * std::abs(f) / point.slope : 0;
    s.equivalent = point.radius_of(growth);
    result.approximate += s.approximate / m;
    result.adversarial += point.adversarial(s.radius) / m;
    if ((2 * data.y[at] - 1) * f < 0) result.misclassified += 1 / m;
    const double size = x.row(i).norm();
    least_norm = std::min(least_norm, size);
    if (size > 0 && point.slope > 0) {
      least_cosine = std::min(least_cosine, std::abs(gx.sum()) / (size * point.slope));
    }
    homogeneous = homogeneous && std::abs(gx.sum() - f) <= 1e-6 * size * point.slope;
    hard = hard && (data.y[at] == 0 || data.y[at] == 1);
    result.samples.push_back(s);
    points.push_back(point);
  }
  result.radius = level * least_norm * least_cosine;
  for (const Point& point : points) {
    result.uniform_adversarial += point.adversarial(result.radius) / m;
  }
  if (result.misclassified > 0) {
    result.unmet.push_back(fmt::format("all samples must be classified correctly, {:.1f} % are not",
                                       100 * result.misclassified));
  }
  if (!hard) result.unmet.emplace_back("labels must be 0 or 1");
  if (!constant(moments.mean)) {
    result.unmet.emplace_back("nu must be the same for every coordinate; use the equivalent radii");
  }
  if (!centered(samples)) result.unmet.emplace_back("the inputs must have mean 0");
  if (!homogeneous) result.unmet.emplace_back("f(x) must equal gradient^T x (no bias)");
  return result;
}

LinearBound linear_adversarial_bound(const Glm& model, const Samples& samples,
                                     std::span<const double> y, const CoordinateMoments& moments) {
  check_model(model, samples, y);
  if (std::ssize(moments.mean) != samples.dimension) {
    fail_argument(
        fmt::format("nu must have {} numbers, got {}", samples.dimension, moments.mean.size()));
  }
  LinearBound result;
  result.is_adversarial = model.link == Link::logistic && model.bias == 0 &&
                          constant(moments.mean) && moments.mean.front() >= 0;
  for (std::int64_t i = 0; i < samples.count; ++i) {
    double score = 0;
    double shrunk = 0;
    for (std::size_t k = 0; k < model.theta.size(); ++k) {
      const double term = model.theta[k] * samples.row(i)[k];
      score += term;
      shrunk += (1 - moments.mean[k]) * term;
    }
    const double label = y[static_cast<std::size_t>(i)];
    const bool correct = (label == 1 && score >= 0) || (label == 0 && score <= 0);
    result.is_adversarial = result.is_adversarial && correct;
    result.floor +=
        (link_values(model.link, shrunk).h - label * shrunk) / static_cast<double>(samples.count);
  }
  if (!centered(samples)) result.unmet.emplace_back("the inputs must have mean 0");
  if (model.bias != 0) result.unmet.emplace_back("the model must have no bias");
  return result;
}

double logistic_retentiveness(std::span<const double> covariance, double radius) {
  const auto d = static_cast<Eigen::Index>(std::lround(std::sqrt(covariance.size())));
  const Matrix sigma = square_of(covariance, d, "the covariance");
  const double largest =
      Eigen::SelfAdjointEigenSolver<Matrix>(sigma, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
  return std::exp(-radius * std::sqrt(std::max(largest, 0.0))) / 4;
}

GeneralizationBound generalization_bound(const GlmClass& c, const CoordinateMoments& moments) {
  check_class(c.gamma, c.samples, c.delta);
  if (!(std::isfinite(c.rho) && c.rho > 0)) {
    fail_argument(fmt::format("rho must be > 0, got {}", c.rho));
  }
  const auto d = static_cast<Eigen::Index>(moments.mean.size());
  const Matrix sigma = square_of(c.covariance, d, "the covariance");
  const auto a = square_of(moments.second, d, "the second moments");
  const PseudoInverse mixed = invert(a.cwiseProduct(sigma));
  GeneralizationBound result;
  result.trace = (mixed.matrix * sigma).trace();
  result.rank = invert(sigma).rank;
  const double k = c.gamma / c.rho;
  const double fourth = std::pow(k, 0.25);
  result.complexity = (fourth * std::sqrt(static_cast<double>(result.rank)) +
                       std::max(fourth, std::sqrt(k)) * std::sqrt(std::max(result.trace, 0.0))) /
                      std::sqrt(static_cast<double>(c.samples));
  result.gap = 2 * c.lipschitz * result.complexity + deviation(c.range, c.delta, c.samples);
  note_range(sigma, mixed, result.unmet);
  return result;
}

GeneralizationBound feature_bound(const FeatureClass& c, const CoordinateMoments& moments) {
  check_class(c.gamma, c.samples, c.delta);
  const auto d = static_cast<Eigen::Index>(moments.mean.size());
  const Matrix sigma = square_of(c.covariance, d, "the covariance");
  const auto a = square_of(moments.second, d, "the second moments");
  if (std::ssize(c.mean) != d) {
    fail_argument(fmt::format("the mean must have {} values, got {}", d, c.mean.size()));
  }
  const PseudoInverse mixed = invert(a.cwiseProduct(sigma));
  const auto mean = vector_of(c.mean);
  GeneralizationBound result;
  result.trace = (mixed.matrix * sigma).trace();
  result.rank = mixed.rank;
  const auto m = static_cast<double>(c.samples);
  result.complexity = std::sqrt(c.gamma * (result.trace + mean.dot(mixed.matrix * mean)) / m) +
                      c.bias / std::sqrt(m);
  result.gap = 2 * c.lipschitz * result.complexity + deviation(c.range, c.delta, c.samples);
  note_range(sigma, mixed, result.unmet);
  if ((mean - mixed.range * mean).norm() > 1e-8 * mean.norm()) {
    result.unmet.emplace_back("the mean of the features must lie in the range of Sigma^M");
  }
  return result;
}

}  // namespace medley::theory
