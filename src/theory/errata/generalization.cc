#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "medley/random.h"
#include "medley/theory/bounds.h"
#include "moments/beta_law.h"
#include "theory/errata/numbers.h"

namespace medley::theory::errata_numbers {
namespace {

/// Coordinates with covariance 1, mixed by Mixup with Beta(1, 1): Sigma^M = identity / 6.
struct WhiteMixup {
  std::size_t d;
  double shrink = kept_label_moments(1, 1).partner_squared;
  std::vector<double> identity = std::vector<double>(d * d);
  CoordinateMoments moments{std::vector<double>(d, kept_label_moments(1, 1).partner),
                            std::vector<double>(d* d, shrink)};

  explicit WhiteMixup(std::size_t dimension) : d(dimension) {
    for (std::size_t k = 0; k < d; ++k) identity[k * d + k] = 1;
  }

  /// The Rademacher complexity of theta^T Sigma^M theta <= gamma by simulation: the greatest
  /// theta^T v over that ball is its radius times |v|.
  [[nodiscard]] double simulated(double gamma, std::int64_t samples) const {
    constexpr int kTrials = 20000;
    RandomStream random(9, 0, 0, Purpose::picture);
    double sum = 0;
    for (int t = 0; t < kTrials; ++t) {
      double square = 0;
      for (std::size_t k = 0; k < d; ++k) {
        double v = 0;  // a sum of normal inputs with random signs
        for (std::int64_t i = 0; i < samples; ++i) v += random.normal();
        square += v * v;
      }
      sum += std::sqrt(square);
    }
    return std::sqrt(gamma / shrink) * sum / kTrials / static_cast<double>(samples);
  }
};

}  // namespace

Numbers root_of_rank() {
  constexpr double kGamma = 0.5;
  constexpr std::int64_t kSamples = 50;
  const WhiteMixup world(3);
  // Squared loss: A'' = 1, so rho = 1.
  const GlmClass c{.covariance = world.identity, .gamma = kGamma, .rho = 1, .samples = kSamples};
  const GeneralizationBound bound = generalization_bound(c, world.moments);
  const double fourth = std::pow(kGamma, 0.25);
  return {
      {.quantity = "bound on the Rademacher complexity, linear regression, Mixup, d = 3, m = 50",
       .claim = Claim::at_most,
       .printed = fourth * (static_cast<double>(bound.rank) + std::sqrt(bound.trace)) /
                  std::sqrt(static_cast<double>(kSamples)),
       .corrected = bound.complexity,
       .truth = world.simulated(kGamma, kSamples),
       .tolerance = 1.5e-3}};
}

Numbers retentiveness() {
  // A'' = 100 everywhere and t = theta^T Sigma theta <= 1, Mixup: theta^T Sigma^M theta = t / 6.
  constexpr double kCurvature = 100;
  const double shrink = kept_label_moments(1, 1).partner_squared;
  const double gamma = kCurvature * shrink;
  double greatest = 0;
  constexpr int kSteps = 1000;
  for (int i = 0; i <= kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps;
    if (kCurvature * shrink * t <= gamma) greatest = std::max(greatest, t * shrink * t);
  }
  // The greatest rho that each condition allows: 100^2 >= rho t, and 100 >= rho min(1, t).
  return {{.quantity = "bound γ/ρ on (θᵀΣθ)(θᵀΣᴹθ), A″ = 100, θᵀΣθ ≤ 1, γ = 16.7, Mixup",
           .claim = Claim::at_most,
           .printed = gamma / (kCurvature * kCurvature),
           .corrected = gamma / kCurvature,
           .truth = greatest}};
}

Numbers trace_not_rank() {
  constexpr double kGamma = 0.01;
  constexpr std::int64_t kSamples = 50;
  const WhiteMixup world(4);
  const std::vector<double> mean(world.d);
  const GeneralizationBound bound = feature_bound(
      {.covariance = world.identity, .mean = mean, .gamma = kGamma, .samples = kSamples},
      world.moments);
  return {{.quantity = "bound on the Rademacher complexity, Mixup, 4 features, m = 50, γ = 0.01",
           .claim = Claim::at_most,
           .printed = 2 * std::sqrt(kGamma * static_cast<double>(bound.rank) / kSamples),
           .corrected = bound.complexity,
           .truth = world.simulated(kGamma, kSamples),
           .tolerance = 1.5e-3}};
}

Numbers variance_coefficient() {
  // One sample's features, mixed with those of six others after the layer.
  const std::vector<double> features = normals(6 * 4, 21);
  const std::vector<double> theta = normals(4, 22);
  const double y = 0.3;
  const auto masks = enumerate_masks(inside_drawn("cutmix"), {2, 2});
  const auto average = [&](auto&& of_score) {
    return over_effective_masks(masks, [&](std::span<const double> n) {
      double sum = 0;
      for (std::size_t r = 0; r < 6; ++r) {
        double score = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          score += theta[k] * (features[k] + n[k] * (features[r * 4 + k] - features[k]));
        }
        sum += of_score(score) / 6;
      }
      return sum;
    });
  };
  const double mean = average([](double f) { return f; });
  const double variance = average([&](double f) { return f * f; }) - mean * mean;
  return {{.quantity = "mean (f − y)² of mixed features, CutMix inside, 2×2",
           .printed = (mean - y) * (mean - y) + variance / 2,
           .corrected = (mean - y) * (mean - y) + variance,
           .truth = average([&](double f) { return (f - y) * (f - y); })}};
}

}  // namespace medley::theory::errata_numbers
