#pragma once

#include <cstdint>
#include <vector>

#include "medley/policy.h"

namespace medley::theory {

/// A random function b on the n pixels of one axis: a box's rows, or a Gaussian's profile. Masks of
/// the methods are N = p + q b(row) c(column) with independent b and c, so their moments are made
/// of those of b and c.
class AxisLaw {
 public:
  /// 1 where a box with sides of `side` pixels lies, placed as box_interval says.
  static AxisLaw box(std::int32_t n, std::int32_t side, Placement placement);

  /// A clipped law split by the length that is left: each class with its probability.
  struct Class;
  static std::vector<Class> clipped_classes(std::int32_t n, std::int32_t side);

  /// exp(-scale d^2) around a center that is uniform on `centers`.
  static AxisLaw gaussian(std::int32_t n, double scale, std::vector<std::int32_t> centers);
  static AxisLaw gaussian(std::int32_t n, double scale);

  /// Mean 0 and E[b(j) b(k)] = matrix, n x n.
  static AxisLaw noise(std::int32_t n, std::vector<double> matrix);

  [[nodiscard]] std::int32_t size() const noexcept { return n_; }
  /// Same law read from the other end.
  [[nodiscard]] bool mirrored() const noexcept { return mirrored_; }

  [[nodiscard]] double mean(std::int32_t j) const;
  [[nodiscard]] double joint(std::int32_t j, std::int32_t k) const;
  /// E[b(j) mean(b)].
  [[nodiscard]] double cross(std::int32_t j) const;
  /// Mean over the pixels of `mean`.
  [[nodiscard]] double average() const;

  // Tables over the axis, n values each.
  void means(double* values) const;
  void crosses(double* values) const;
  /// Average of joint(i, i + d) over the n - d pixels where both exist, for every d.
  void lags(double* values) const;

 private:
  enum class Kind : std::uint8_t { intervals, wrap, gaussian, noise };
  struct Interval {
    std::int32_t begin;
    std::int32_t end;
  };

  AxisLaw(Kind kind, std::int32_t n) : kind_(kind), n_(n) {}
  void add_intervals(double* values, bool times_length) const;
  void gaussian_lags(double* values) const;

  Kind kind_;
  std::int32_t n_;
  bool mirrored_ = true;
  std::vector<Interval> intervals_;    // equally likely
  std::int32_t side_ = 0;              // wrap
  double scale_ = 0;                   // gaussian
  std::vector<std::int32_t> centers_;  // equally likely
  std::vector<double> profile_;        // exp(-scale d^2)
  std::vector<double> profile_mean_;   // of each center
  std::vector<double> matrix_;         // noise
};

struct AxisLaw::Class {
  AxisLaw law;
  std::int32_t length;
  double probability;
};

}  // namespace medley::theory
