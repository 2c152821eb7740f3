#pragma once

#include <span>

#include "medley/theory/loss.h"

namespace medley::theory {

/// Moments of the weights of n-Mixup, (l_1 .. l_n) ~ Dirichlet(alpha), after the sample whose label
/// is kept was put first (its law is size-biased).
struct NMixupMoments {
  double others = 0;          ///< E[1 - l_1]
  double others_squares = 0;  ///< E[sum over j >= 2 of l_j^2]
  double others_squared = 0;  ///< E[(1 - l_1)^2]
};

/// In closed form; at least two alphas, all > 0.
[[nodiscard]] NMixupMoments nmixup_moments(std::span<const double> alpha);

/// The expansion of the n-Mixup loss of a generalised linear model; R3 is 0.
[[nodiscard]] LossTerms nmixup_loss(const Glm& model, const Samples& samples,
                                    std::span<const double> y, std::span<const double> alpha);

/// The n-Mixup loss itself: all m^n tuples, weights by stick breaking and quadrature with `nodes`
/// points per stick. For tests and tiny data.
[[nodiscard]] double nmixup_exact_loss(const Glm& model, const Samples& samples,
                                       std::span<const double> y, std::span<const double> alpha,
                                       int nodes = 24);

}  // namespace medley::theory
