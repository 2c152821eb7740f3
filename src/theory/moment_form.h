#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/types.h"
#include "theory/axis_law.h"

namespace medley::theory {

/// Moments of the scalars of a family of masks N = p + q b c, with label share s of the partner:
/// integrated over lam and weighted with the family's chance.
struct ScalarMoments {
  double p = 0, q = 0;            // E p, E q
  double pp = 0, pq = 0, qq = 0;  // second moments
  double s = 0, sp = 0, sq = 0;   // with a label share that lam fixes

  ScalarMoments& operator+=(const ScalarMoments& other) noexcept;
};

/// Moments for fixed scalars.
[[nodiscard]] ScalarMoments fixed_scalars(double weight, double p, double q, double s) noexcept;

/// What the label adds to the moments.
enum class LabelMoments : std::uint8_t {
  none,   ///< plain a = E[N N^T]
  fixed,  ///< effective, share fixed by lam
  mean,   ///< effective, share = mean of the mask
};

/// A symmetric function of two pixels and a function of one, as sums of products over the axes:
///   second(j, k) = constant + L(j) + L(k) + [j = k] diagonal + sum quadratic R(j1,k1) C(j2,k2)
///   L(j)         = sum linear r(j1) c(j2) + cross r'(j1) c'(j2)
///   mean(j)      = mean_constant + sum mean r(j1) c(j2) + mean_cross r'(j1) c'(j2)
/// with R, r, r' the joint moments, means and crosses of a row law, C, c, c' of a column law.
struct MomentForm {
  struct Part {
    std::int32_t row = 0;
    std::int32_t column = 0;
    double quadratic = 0;
    double linear = 0;
    double cross = 0;
    double mean = 0;
    double mean_cross = 0;
  };
  struct Block {
    std::vector<AxisLaw> rows;
    std::vector<AxisLaw> columns;
    std::vector<Part> parts;
  };

  ImageSize size;
  double constant = 0;
  double diagonal = 0;
  double mean_constant = 0;
  std::vector<Block> blocks;

  /// Adds a family with one row law and one column law of `block`.
  void add(Block& block, std::int32_t row, std::int32_t column, const ScalarMoments& m,
           LabelMoments label);
  /// Adds a family of flat masks N = p.
  void add_flat(const ScalarMoments& m, LabelMoments label);
  void scale(double factor);

  [[nodiscard]] std::vector<double> map() const;
  [[nodiscard]] std::vector<double> means() const;
  /// v^T second v.
  [[nodiscard]] double quadratic(std::span<const double> v) const;
  /// second(j, k) of all pairs of pixels.
  [[nodiscard]] std::vector<double> matrix() const;
};

}  // namespace medley::theory
