#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "medley/types.h"

namespace medley {

/// Standard deviations of masks: beyond, squares and sums of pixels lose their digits.
inline constexpr double kMaxSigma = 1e6;

/// A law of unbounded Gaussian masks with prescribed moments: with N = 1 - M the weight of the
/// partner, E[N] = nu and E[N N^T] = A (Theorem 2 of the MSDA paper, corrected: M = 1 - nu + S z
/// with S S^T = A - nu nu^T). Immutable.
class GaussianDesign {
 public:
  /// A is a symmetric P x P matrix over the P = height*width pixels (row-major), nu has P entries.
  /// Throws InvalidArgument if A - nu nu^T is not positive semi-definite (by how much is in the
  /// text) or P > 4096. Costs O(P^3) once and O(P^2) per mask.
  static GaussianDesign dense(ImageSize size, std::span<const double> matrix,
                              std::span<const double> nu);

  /// A = rows (x) columns, both symmetric positive definite, and nu = mean everywhere.
  /// Costs O(H^3 + W^3) once and O(HW(H+W)) per mask.
  static GaussianDesign kronecker(std::span<const double> rows, std::int32_t height,
                                  std::span<const double> columns, std::int32_t width, double mean);

  /// nu = mean everywhere; covariance sigma^2 * exp(-|d|^2 / 2 l^2) with l = `length` times the
  /// side. The longer that is, the fewer normals a mask takes and the less it costs.
  static GaussianDesign smooth(ImageSize size, double sigma, double length, double mean);

  /// Size of its masks.
  [[nodiscard]] ImageSize size() const noexcept;
  /// Mean of nu over the pixels: 1 - lam.
  [[nodiscard]] double mean() const noexcept;
  /// Number of independent normals that a mask takes.
  [[nodiscard]] std::int64_t dimension() const noexcept;
  /// Writes the mask 1 - nu + S z, `mask` with height*width entries; adds `shift` to every pixel.
  void mask(std::span<const double> z, double shift, std::span<double> mask) const;

  struct Impl;

 private:
  explicit GaussianDesign(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// The correlation of `smooth` along an axis of n pixels, n x n.
[[nodiscard]] std::vector<double> smooth_correlation(std::int32_t n, double length);

}  // namespace medley
