#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/theory/coefficients.h"
#include "medley/theory/enumerate_masks.h"

namespace medley::theory {

/// m samples of d numbers, row-major; not owned.
struct Samples {
  std::span<const double> x;
  std::int64_t count = 0;      ///< m
  std::int64_t dimension = 0;  ///< d

  [[nodiscard]] std::span<const double> row(std::int64_t i) const {
    return x.subspan(static_cast<std::size_t>(i * dimension), static_cast<std::size_t>(dimension));
  }
};

/// Throws InvalidArgument unless the numbers fit the counts and are finite.
void check_samples(const Samples& samples);

/// The expansion of the mixed loss to second order: the plain loss and what mixing adds to it.
struct LossTerms {
  double plain = 0;  ///< L_m, the loss without mixing
  double r1 = 0;     ///< pulls scores towards what they are at the mean image
  double r2 = 0;     ///< penalises gradients, weighted by the coefficients ~a
  double r3 = 0;     ///< penalises curvature of the score; 0 for linear and ReLU models

  [[nodiscard]] double approximate() const noexcept { return plain + r1 + r2 + r3; }
};

/// nu and ~a for every coordinate of an input: images are channel after channel, a mask is shared
/// by the channels.
struct CoordinateMoments {
  std::vector<double> mean;    ///< nu, d values
  std::vector<double> second;  ///< ~a, d x d
};
[[nodiscard]] CoordinateMoments coordinate_moments(const MaskMoments& moments,
                                                   std::int32_t channels = 1);

/// The loss h(f) - y f of a score f.
enum class Link : std::uint8_t {
  logistic,  ///< h = log(1 + e^f), y in {0, 1} or between
  squared,   ///< h = f^2 / 2
};

/// h and its first three derivatives.
struct LinkValues {
  double h = 0, d1 = 0, d2 = 0, d3 = 0;
};
[[nodiscard]] LinkValues link_values(Link link, double score) noexcept;

/// f = theta^T x + bias; the bias is not mixed.
struct Glm {
  Link link = Link::logistic;
  std::vector<double> theta;
  double bias = 0;
};

/// The expansion for a generalised linear model, exact in data and masks; R3 is 0. O(m d^2).
/// `gradient`, if not empty, gets the derivatives of the sum by theta and bias (d + 1 values).
[[nodiscard]] LossTerms approximate_loss(const Glm& model, const Samples& samples,
                                         std::span<const double> y,
                                         const CoordinateMoments& moments,
                                         std::span<double> gradient = {});

/// The mixed loss itself: all ordered pairs, every mask of the list. O(m^2) per mask. Masks have a
/// weight per coordinate; see above for `gradient`.
[[nodiscard]] double exact_loss(const Glm& model, const Samples& samples, std::span<const double> y,
                                std::span<const WeightedMask> masks,
                                std::span<double> gradient = {});

}  // namespace medley::theory
