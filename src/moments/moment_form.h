#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/types.h"
#include "moments/axis_law.h"

namespace medley::theory {

/// E[lam^0], E[lam] and E[lam^2] over a part of the lambdas.
struct LambdaMoments {
  double m0 = 0, m1 = 0, m2 = 0;

  LambdaMoments& operator+=(const LambdaMoments& other) noexcept;
};

/// Moments of the scalars of a family of masks N = p + q b c, with label share s of the partner:
/// integrated over lam and weighted with the family's probability.
struct ScalarMoments {
  double p = 0, q = 0;            // E p, E q
  double pp = 0, pq = 0, qq = 0;  // second moments
  double s = 0, sp = 0, sq = 0;   // with a label share that lam fixes

  ScalarMoments& operator+=(const ScalarMoments& other) noexcept;
  ScalarMoments& operator*=(double weight) noexcept;
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
  double weight = 1;  ///< probability of what is added, of a method that draws one of several
  double constant = 0;
  double diagonal = 0;
  double mean_constant = 0;
  std::vector<Block> blocks;

  /// Adds a family with one row law and one column law of `block`.
  void add(Block& block, std::int32_t row, std::int32_t column, ScalarMoments m,
           LabelMoments label);
  /// Adds a family of flat masks N = p.
  void add_flat(ScalarMoments m, LabelMoments label);
  /// Adds the flat masks N = 1 - lam, whose label is lam by any rule.
  void add_lambda(const LambdaMoments& m, LabelMoments label);
  /// Adds independent deviations of the pixels from masks that were added, of this variance.
  void add_pixel_noise(double variance, LabelMoments label);
  void scale(double factor);

  [[nodiscard]] std::vector<double> map() const;
  [[nodiscard]] std::vector<double> means() const;
  /// v^T second v.
  [[nodiscard]] double quadratic(std::span<const double> v) const;
  /// second(j, k) of all pairs of pixels.
  [[nodiscard]] std::vector<double> matrix() const;

 private:
  void add_weighted_flat(const ScalarMoments& m, LabelMoments label);
};

}  // namespace medley::theory
