#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "medley/gaussian_design.h"
#include "medley/types.h"

namespace medley::theory {

/// Wanted moments of a mask: E[N] = mean at every pixel and E[N N^T] = matrix (Theorem 2).
struct DesignTarget {
  ImageSize size;
  double mean = 0;             ///< 1 - lam
  std::vector<double> matrix;  ///< P x P, P = height*width <= 1024
};

/// The target whose coefficients depend on the displacement alone: matrix(j, k) =
/// profile(|j1 - k1|, |j2 - k2|), `profile` being height x width. Throws InvalidArgument if it does
/// not fit, is not finite, or has more than 1024 pixels.
[[nodiscard]] DesignTarget target_of_profile(std::span<const double> profile, ImageSize size,
                                             double mean);

/// A profile by name: any method with a closed form (its displacement map at lam), "smooth" (the
/// gaussian-field default) or "gmix-plane" (the paper's formula on an infinite plane).
[[nodiscard]] std::vector<double> preset_profile(std::string_view name, double lam, ImageSize size);

/// Whether masks with these moments exist: matrix - mean^2 must be positive semi-definite.
struct Feasibility {
  bool feasible = false;
  double smallest = 0;  ///< eigenvalue; below 0: how far it is from possible
  double largest = 0;
  double distance = 0;  ///< to the nearest possible matrix, Frobenius norm
};
/// Looks at the eigenvalues. Throws InvalidArgument if the target does not fit itself.
[[nodiscard]] Feasibility check_design(const DesignTarget& target);

/// The nearest possible target in the Frobenius norm, with the same mean.
[[nodiscard]] DesignTarget nearest_feasible(const DesignTarget& target);

/// Average of the matrix by displacement.
[[nodiscard]] std::vector<double> map_of(const DesignTarget& target);

}  // namespace medley::theory
