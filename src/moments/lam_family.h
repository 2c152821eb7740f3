#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "medley/method.h"
#include "moments/beta_law.h"
#include "moments/moment_form.h"

namespace medley::theory {

/// The lambdas of a method, and how labels follow them.
struct LamFamily {
  LamFamily(const LambdaDistribution& lambda, bool effective, LabelRule label);

  std::optional<double> fixed;
  double alpha;
  double beta;
  bool effective;
  LabelRule label;

  /// E[lam^power; lo <= lam < hi], the upper end included if it is 1.
  [[nodiscard]] double moment(double lo, double hi, int power) const;
  [[nodiscard]] LambdaMoments moments(double lo, double hi) const;
  /// Nodes on [lo, hi].
  [[nodiscard]] std::vector<Node> nodes(double lo, double hi) const;
  /// Nodes on all lambdas, for what is smooth everywhere.
  [[nodiscard]] std::vector<Node> smooth_nodes() const;
  /// `realized` is what the method's realized label is: fixed by lam, or the mean of the mask.
  [[nodiscard]] LabelMoments label_moments(LabelMoments realized) const;
};

/// Masks that only rounding makes (full boxes at tiny lambdas, no Gaussian where lam is rounded to
/// 0 or 1, a ratio that is rounded to 1) count where they are at least so probable; below, moments
/// are those of exact numbers.
inline constexpr double kNegligible = 1e-6;

/// A draw whose distance to 1 is below this is rounded to 1.
inline constexpr double kRounded = std::numeric_limits<double>::epsilon() / 2;

/// A part of a range of lambdas, shares or ratios.
struct Interval {
  double from = 0, to = 0;
};

[[nodiscard]] std::vector<Node> joined(std::vector<Node> nodes, const std::vector<Node>& more);

}  // namespace medley::theory
