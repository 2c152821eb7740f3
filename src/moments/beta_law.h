#pragma once

#include <vector>

namespace medley::theory {

/// The regularized incomplete Beta function: the probability that Beta(a, b) is below x. a, b > 0,
/// x in [0, 1]; exact to about 1e-13. Where a + b > 1e9 and both are above 1e6 it is that of the
/// normal law instead, which is off by up to 0.13 / sqrt(min(a, b)): 1e-4 where one is far smaller
/// than the other, and less than 1e-9 for a = b.
[[nodiscard]] double beta_cdf(double a, double b, double x);

/// E[lam^power; lo <= lam < hi] for lam ~ Beta(a, b), as exact as the incomplete Beta functions
/// that it is a difference of.
[[nodiscard]] double beta_cell_moment(double a, double b, double lo, double hi, int power);

/// A point of a quadrature rule and its weight.
struct Node {
  double x = 0;
  double weight = 0;
};

/// Gauss-Jacobi rule for lam ~ Beta(a, b): weights sum to 1, polynomials of degree below 2 `count`
/// are exact. For a = b = 1 this is Gauss-Legendre.
[[nodiscard]] std::vector<Node> beta_nodes(double a, double b, int count);

/// A rule for the part of Beta(a, b) on [lo, hi]: weights sum to that part's mass. Panels shrink
/// towards 0 and 1, where the density may be singular, so integrands that are smooth on [lo, hi]
/// are exact to about 1e-12; one with a pole or a bend closer to [lo, hi] than the length of a
/// panel is not.
[[nodiscard]] std::vector<Node> beta_nodes_between(double a, double b, double lo, double hi);

/// The size-biased mixture of the paper: the law of the weight of the sample whose label is kept,
/// a/(a+b) Beta(a+1, b) + b/(a+b) Beta(b+1, a).
struct KeptLabelMoments {
  double partner = 0;          ///< E[1 - lam] = 2ab / ((a+b)(a+b+1))
  double partner_squared = 0;  ///< E[(1 - lam)^2], half of the first
};
[[nodiscard]] KeptLabelMoments kept_label_moments(double a, double b);

}  // namespace medley::theory
