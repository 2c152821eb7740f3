#include "medley/theory/loss.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "core/check.h"
#include "theory/check_loss.h"

namespace medley::theory {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

void check_gradient(std::span<double> gradient, const Samples& samples) {
  if (!gradient.empty() && std::ssize(gradient) != samples.dimension + 1) {
    fail_argument(fmt::format("the gradient has {} values, got room for {}", samples.dimension + 1,
                              gradient.size()));
  }
}

Eigen::Map<const Vector> vector_of(std::span<const double> values) {
  return {values.data(), std::ssize(values)};
}

}  // namespace

void check_samples(const Samples& samples) {
  if (samples.count < 1 || samples.dimension < 1 ||
      std::ssize(samples.x) != samples.count * samples.dimension) {
    fail_argument(fmt::format("{} samples of dimension {} are {} numbers, got {}", samples.count,
                              samples.dimension, samples.count * samples.dimension,
                              samples.x.size()));
  }
  for (const double value : samples.x) {
    if (!std::isfinite(value)) fail_argument("samples must be finite");
  }
}

void check_model(const Glm& model, const Samples& samples, std::span<const double> y) {
  check_samples(samples);
  if (std::ssize(model.theta) != samples.dimension || std::ssize(y) != samples.count) {
    fail_argument(fmt::format(
        "{} samples of dimension {} need {} labels and a theta of {} numbers, got {} and {}",
        samples.count, samples.dimension, samples.count, samples.dimension, y.size(),
        model.theta.size()));
  }
  for (const double value : model.theta) require_finite("theta", value);
  require_finite("the bias", model.bias);
}

void check_masks(std::span<const WeightedMask> masks, std::int64_t dimension) {
  for (const WeightedMask& mask : masks) {
    if (std::ssize(mask.own) != dimension) {
      fail_argument(fmt::format("masks must have {} weights, got {}", dimension, mask.own.size()));
    }
  }
}

CoordinateMoments coordinate_moments(const MaskMoments& moments, std::int32_t channels) {
  if (channels < 1) fail_argument(fmt::format("channels must be > 0, got {}", channels));
  const std::vector<double> mean = moments.means();
  const std::vector<double> second = moments.matrix();
  const std::size_t pixels = mean.size();
  CoordinateMoments result;
  const auto count = static_cast<std::size_t>(channels) * pixels;
  for (std::size_t j = 0; j < count; ++j) {
    result.mean.push_back(mean[j % pixels]);
    for (std::size_t k = 0; k < count; ++k) {
      result.second.push_back(second[j % pixels * pixels + k % pixels]);
    }
  }
  return result;
}

LinkValues link_values(Link link, double score) noexcept {
  if (link == Link::squared) return {score * score / 2, score, 1, 0};
  const double e = std::exp(-std::abs(score));
  const double small = e / (1 + e);  // the lesser of g and 1 - g
  const double g = score >= 0 ? 1 - small : small;
  const double d2 = small * (1 - small);
  return {std::max(score, 0.0) + std::log1p(e), g, d2, d2 * (1 - 2 * g)};
}

LossTerms approximate_loss(const Glm& model, const Samples& samples, std::span<const double> y,
                           const CoordinateMoments& moments, std::span<double> gradient) {
  check_model(model, samples, y);
  check_gradient(gradient, samples);
  const Eigen::Index d = samples.dimension;
  if (std::ssize(moments.mean) != d || std::ssize(moments.second) != d * d) {
    fail_argument(
        fmt::format("the moments must be of dimension {}, got {}", d, moments.mean.size()));
  }
  const auto m = static_cast<double>(samples.count);
  const Eigen::Map<const Matrix> x(samples.x.data(), samples.count, d);
  const auto theta = vector_of(model.theta);
  const auto nu = vector_of(moments.mean);
  const Eigen::Map<const Matrix> a(moments.second.data(), d, d);
  const Vector mu = x.colwise().mean();
  const Matrix centered = x.rowwise() - mu.transpose();
  const Matrix covariance = centered.transpose() * centered / m;
  const Vector shared = a.cwiseProduct(covariance) * theta;  // of (~a o Sigma) theta

  LossTerms terms;
  Vector slope = Vector::Zero(d);
  double bias_slope = 0;
  for (Eigen::Index i = 0; i < samples.count; ++i) {
    const Vector own = x.row(i).transpose();
    const LinkValues h = link_values(model.link, theta.dot(own) + model.bias);
    const double residual = h.d1 - y[static_cast<std::size_t>(i)];
    const Vector shift = nu.cwiseProduct(mu - own);
    const Vector away = own - mu;
    // (~a o (Sigma + away away^T)) theta
    const Vector curved = shared + away.cwiseProduct(a * away.cwiseProduct(theta));
    const double first = theta.dot(shift);
    const double square = theta.dot(curved);
    terms.plain += h.h - y[static_cast<std::size_t>(i)] * (theta.dot(own) + model.bias);
    terms.r1 += residual * first;
    terms.r2 += h.d2 * square / 2;
    const double by_score = residual + h.d2 * first + h.d3 * square / 2;
    slope += by_score * own + residual * shift + h.d2 * curved;
    bias_slope += by_score;
  }
  terms.plain /= m;
  terms.r1 /= m;
  terms.r2 /= m;
  if (!gradient.empty()) {
    Eigen::Map<Vector>(gradient.data(), d) = slope / m;
    gradient.back() = bias_slope / m;
  }
  return terms;
}

double exact_loss(const Glm& model, const Samples& samples, std::span<const double> y,
                  std::span<const WeightedMask> masks, std::span<double> gradient) {
  check_model(model, samples, y);
  check_masks(masks, samples.dimension);
  check_gradient(gradient, samples);
  const Eigen::Index d = samples.dimension;
  const Eigen::Map<const Matrix> x(samples.x.data(), samples.count, d);
  const auto theta = vector_of(model.theta);
  const auto pairs = static_cast<double>(samples.count) * static_cast<double>(samples.count);
  double loss = 0;
  Vector slope = Vector::Zero(d);
  double bias_slope = 0;
  Vector as_own(samples.count);  // sum of the residuals of a sample in its two roles
  Vector as_partner(samples.count);
  for (const WeightedMask& mask : masks) {
    const auto own = vector_of(mask.own);
    const Vector partner = Vector::Ones(d) - own;
    const Vector own_score = x * own.cwiseProduct(theta);
    const Vector partner_score = x * partner.cwiseProduct(theta);
    as_own.setZero();
    as_partner.setZero();
    double sum = 0;
    for (Eigen::Index i = 0; i < samples.count; ++i) {
      for (Eigen::Index j = 0; j < samples.count; ++j) {
        const double score = own_score(i) + partner_score(j) + model.bias;
        const double label = mask.label_weight * y[static_cast<std::size_t>(i)] +
                             (1 - mask.label_weight) * y[static_cast<std::size_t>(j)];
        const LinkValues h = link_values(model.link, score);
        sum += h.h - label * score;
        as_own(i) += h.d1 - label;
        as_partner(j) += h.d1 - label;
      }
    }
    const double weight = mask.probability / pairs;
    loss += weight * sum;
    slope += weight * (own.cwiseProduct(x.transpose() * as_own) +
                       partner.cwiseProduct(x.transpose() * as_partner));
    bias_slope += weight * as_own.sum();
  }
  if (!gradient.empty()) {
    Eigen::Map<Vector>(gradient.data(), d) = slope;
    gradient.back() = bias_slope;
  }
  return loss;
}

}  // namespace medley::theory
