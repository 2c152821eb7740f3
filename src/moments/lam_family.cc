#include "moments/lam_family.h"

#include <cmath>

namespace medley::theory {
namespace {

constexpr int kSmoothNodes = 64;

}  // namespace

LamFamily::LamFamily(const LambdaDistribution& lambda, bool is_effective, LabelRule rule)
    : fixed(lambda.lam),
      alpha(lambda.alpha),
      beta(lambda.beta.value_or(lambda.alpha)),
      effective(is_effective),
      label(rule) {}

double LamFamily::moment(double lo, double hi, int power) const {
  if (!fixed) return beta_cell_moment(alpha, beta, lo, hi, power);
  // A fixed lam may lie outside [0, 1]; then it belongs to the whole range.
  const bool whole = lo <= 0 && hi >= 1;
  const bool within = *fixed >= lo && (*fixed < hi || hi >= 1);
  return whole || within ? std::pow(*fixed, power) : 0;
}

LambdaMoments LamFamily::moments(double lo, double hi) const {
  return {moment(lo, hi, 0), moment(lo, hi, 1), moment(lo, hi, 2)};
}

std::vector<Node> LamFamily::nodes(double lo, double hi) const {
  if (fixed) return {{*fixed, moment(lo, hi, 0)}};
  return beta_nodes_between(alpha, beta, lo, hi);
}

std::vector<Node> LamFamily::smooth_nodes() const {
  if (fixed) return {{*fixed, 1}};
  return beta_nodes(alpha, beta, kSmoothNodes);
}

LabelMoments LamFamily::label_moments(LabelMoments realized) const {
  if (!effective) return LabelMoments::none;
  return label == LabelRule::drawn ? LabelMoments::fixed : realized;
}

std::vector<Node> joined(std::vector<Node> nodes, const std::vector<Node>& more) {
  nodes.insert(nodes.end(), more.begin(), more.end());
  return nodes;
}

}  // namespace medley::theory
