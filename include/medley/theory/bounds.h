#pragma once

#include <span>
#include <string>
#include <vector>

#include "medley/theory/loss.h"

namespace medley::theory {

// Bounds of the paper as corrected. Each result names the hypotheses that do not hold in `unmet`;
// with any there the bound is a number without a proof.

/// A binary model at its samples: logistic loss, y in {0, 1}.
struct ScoredSamples {
  Samples samples;
  std::span<const double> y;
  std::span<const double> scores;     ///< f(x_i)
  std::span<const double> gradients;  ///< of f at x_i, m x d
};

/// One sample in the adversarial bound (Theorem 3a).
struct AdversarialSample {
  double loss = 0;
  double first = 0;        ///< b = nu^T (gradient o x)
  double second = 0;       ///< q, the gradient's square under ~a
  double approximate = 0;  ///< mixed loss to second order
  double radius = 0;       ///< eta_i = nu |f| / |gradient|
  double equivalent =
      0;  ///< eta*_i: its adversarial loss equals `approximate`; NaN if there is none
};

/// Theorem 3a: the mixed loss to second order beside adversarial losses.
struct AdversarialBound {
  std::vector<AdversarialSample> samples;
  double approximate = 0;          ///< mean mixed loss, second order
  double adversarial = 0;          ///< mean second-order adversarial loss at the radii eta_i
  double radius = 0;               ///< eta for all samples: nu min|x| min|cos|
  double uniform_adversarial = 0;  ///< mean second-order adversarial loss at that radius
  double misclassified = 0;        ///< share of the samples
  std::vector<std::string> unmet;
};
/// Evaluates it. Throws InvalidArgument if the numbers do not fit each other.
[[nodiscard]] AdversarialBound adversarial_bound(const ScoredSamples& data,
                                                 const CoordinateMoments& moments);

/// Theorem 3b, linear scores: what the mixed loss cannot go below, with no expansion.
struct LinearBound {
  double floor = 0;  ///< (1/m) sum of l(((1 - nu) o theta)^T x_i, y_i)
  /// The floor is the true adversarial loss at the radii eta_i: logistic loss, nu constant, labels
  /// 0 or 1 and all samples classified correctly. Without, it is a floor all the same.
  bool is_adversarial = false;
  std::vector<std::string> unmet;
};
/// Evaluates it. Throws InvalidArgument if the numbers do not fit each other.
[[nodiscard]] LinearBound linear_adversarial_bound(const Glm& model, const Samples& samples,
                                                   std::span<const double> y,
                                                   const CoordinateMoments& moments);

/// Rademacher complexity and generalization gap.
struct GeneralizationBound {
  double trace = 0;  ///< of (Sigma^M)^+ Sigma
  std::int64_t rank = 0;
  double complexity = 0;  ///< bound on the Rademacher complexity
  double gap = 0;         ///< expected minus training loss, with probability 1 - delta
  std::vector<std::string> unmet;
};

/// Theorem 4a: generalized linear models with E[A''] theta^T Sigma^M theta <= gamma.
struct GlmClass {
  std::span<const double> covariance;  ///< Sigma of the centered inputs, d x d
  double gamma = 0;
  double rho = 0;  ///< retentiveness: E A''(theta^T x) >= rho min(1, theta^T Sigma theta)
  std::int64_t samples = 0;
  double lipschitz = 1;
  double range = 1;  ///< of the loss
  double delta = 0.05;
};
/// Evaluates it. Throws InvalidArgument if the numbers do not fit each other.
[[nodiscard]] GeneralizationBound generalization_bound(const GlmClass& c,
                                                       const CoordinateMoments& moments);

/// Theorem 4b: a linear layer on mixed features, squared loss, theta^T Sigma^M theta <= gamma.
struct FeatureClass {
  std::span<const double> covariance;  ///< of the features, d x d
  std::span<const double> mean;        ///< of the features, d
  double gamma = 0;
  double bias = 0;  ///< bound on |theta_0|
  std::int64_t samples = 0;
  double lipschitz = 1;
  double range = 1;
  double delta = 0.05;
};
/// Evaluates it. Throws InvalidArgument if the numbers do not fit each other.
[[nodiscard]] GeneralizationBound feature_bound(const FeatureClass& c,
                                                const CoordinateMoments& moments);

/// A retentiveness constant for logistic regression with |theta| <= radius:
/// exp(-radius sqrt(largest eigenvalue of Sigma)) / 4.
[[nodiscard]] double logistic_retentiveness(std::span<const double> covariance, double radius);

}  // namespace medley::theory
