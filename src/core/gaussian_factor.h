#pragma once

#include <cstdint>

#include "core/portable_math.h"

namespace medley {

/// Exponent per squared pixel of distance: K = exp(-scale * d^2), scale = pi / (tau * pixels).
/// Bounded, so that a vanishing tau gives 1 at the center and 0 elsewhere instead of NaN.
MEDLEY_HOST_DEVICE inline double gaussian_scale(double tau, double pixels) noexcept {
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kLargest = 1e4;  // exp(-1e4) is 0 in double precision
  const double scale = kPi / (tau * pixels);
  return scale < kLargest ? scale : kLargest;
}

/// K at whole distance d along one axis; the mask is the product of a row and a column factor.
MEDLEY_HOST_DEVICE inline double gaussian_factor(double scale, std::int32_t d) noexcept {
  const double distance = d;
  return exp_nonpositive(-scale * (distance * distance));
}

/// The factor as pixels see it.
MEDLEY_HOST_DEVICE inline float gaussian_factor_f32(double scale, std::int32_t d) noexcept {
  return static_cast<float>(gaussian_factor(scale, d));
}

}  // namespace medley
