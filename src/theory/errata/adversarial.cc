#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "medley/theory/bounds.h"
#include "medley/theory/coefficients.h"
#include "medley/theory/loss.h"
#include "moments/beta_law.h"
#include "theory/errata/numbers.h"

namespace medley::theory::errata_numbers {
namespace {

/// Two points of d equal coordinates at +-size, a linear score of +-margin there, labels 1 and 0:
/// mixed by Mixup with Beta(1, 1).
struct TwoPoints {
  std::int64_t d;
  double size;
  double margin;
  std::vector<double> x, y = {1, 0}, scores, gradients;
  CoordinateMoments moments;

  TwoPoints(std::int64_t dimension, double norm, double score)
      : d(dimension),
        size(norm),
        margin(score),
        moments{std::vector<double>(static_cast<std::size_t>(d), kept_label_moments(1, 1).partner),
                std::vector<double>(static_cast<std::size_t>(d * d),
                                    kept_label_moments(1, 1).partner_squared)} {
    const double v = size / std::sqrt(static_cast<double>(d));
    for (const double sign : {1.0, -1.0}) {
      scores.push_back(sign * margin);
      for (std::int64_t k = 0; k < d; ++k) {
        x.push_back(sign * v);
        gradients.push_back(margin / (v * static_cast<double>(d)));
      }
    }
  }

  [[nodiscard]] AdversarialBound bound() const {
    return adversarial_bound({{x, 2, d}, y, scores, gradients}, moments);
  }
  /// Second-order adversarial loss at a radius, its quadratic term times `factor`.
  [[nodiscard]] double adversarial(double radius, double factor) const {
    const LinkValues h = link_values(Link::logistic, margin);
    const double step = radius * margin / size;  // how far the score moves
    return h.h - margin + (1 - h.d1) * step + factor / 2 * h.d2 * step * step;
  }
  /// The mixed loss to second order: both points, both partners and lam by quadrature.
  [[nodiscard]] double mixed_loss() const {
    double sum = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const LinkValues h = link_values(Link::logistic, scores[i]);
      for (const double partner : scores) {
        for (const Node& node : beta_nodes(1, 1, 8)) {
          for (const double kept : {node.x, 1 - node.x}) {  // the weight of the label that is kept
            const double step = (1 - kept) * (partner - scores[i]);
            sum += node.weight * kept / 4 *
                   (h.h - y[i] * scores[i] + (h.d1 - y[i]) * step + h.d2 / 2 * step * step);
          }
        }
      }
    }
    return sum;
  }
};

}  // namespace

Numbers quadratic_term() {
  const TwoPoints p(100, 1, 2);
  const double radius = p.bound().radius;
  return {{.quantity = "lower bound on the mixed loss of two points, d = 100",
           .claim = Claim::at_least,
           .printed = p.adversarial(radius, 100),
           .corrected = p.adversarial(radius, 1),
           .truth = p.mixed_loss()}};
}

Numbers input_norm() {
  // |x| = 0.1 <= c_x sqrt(d) holds for c_x = 100, too.
  const TwoPoints p(1, 0.1, 0.01);
  return {{.quantity = "lower bound on the mixed loss of two points of length 0.1, c_x = 100",
           .claim = Claim::at_least,
           .printed = p.adversarial(100 * kept_label_moments(1, 1).partner, 1),
           .corrected = p.adversarial(p.bound().radius, 1),
           .truth = p.mixed_loss()}};
}

Numbers signed_mean() {
  const TwoPoints p(5, 1, 1);
  const AdversarialBound bound = p.bound();
  double printed = 1;
  for (const AdversarialSample& sample : bound.samples) {
    printed = std::min(printed, sample.first / (p.margin / p.size));
  }
  double step = 0;  // towards the boundary, on average
  for (const double partner : {1.0, -1.0}) {
    for (const Node& node : beta_nodes(1, 1, 8)) {
      for (const double kept : {node.x, 1 - node.x}) {
        step += node.weight * kept / 2 * (1 - kept) * (1 - partner);
      }
    }
  }
  return {{.quantity = "radius for two points at distance 1 from the boundary",
           .printed = printed,
           .corrected = bound.radius,
           .truth = step}};
}

Numbers two_candidates() {
  // One vector of gradient times image; the candidates are the moments of its sum under the mask.
  constexpr ImageSize kSize{3, 3};
  const MixPolicy policy{.method = {"bernoulli", {{"alpha", 1}}}, .label = LabelRule::drawn};
  const std::vector<double> v = normals(9, 105);
  const CoordinateMoments m = coordinate_moments(effective_coefficients(policy, kSize));
  double first = 0, second = 0;
  for (std::size_t j = 0; j < 9; ++j) {
    first += m.mean[j] * v[j];
    for (std::size_t k = 0; k < 9; ++k) second += v[j] * m.second[j * 9 + k] * v[k];
  }
  const auto dot = [&](std::span<const double> n) {
    double sum = 0;
    for (std::size_t j = 0; j < 9; ++j) sum += n[j] * v[j];
    return sum;
  };
  const auto masks = enumerate_masks(policy, kSize);
  const double mean = over_effective_masks(masks, dot);
  const double square =
      over_effective_masks(masks, [&](std::span<const double> n) { return dot(n) * dot(n); });
  return {{.quantity = "the smaller of |E s| and √E s², Bernoulli-CutMix, 3×3",
           .claim = Claim::at_most,
           .printed = std::sqrt(second),
           .corrected = std::abs(first),
           .truth = std::min(std::abs(mean), std::sqrt(square))}};
}

Numbers misclassified() {
  TwoPoints p(3, 1, 4);
  p.y = {0, 1};
  const Glm model{Link::logistic, {p.gradients.begin(), p.gradients.begin() + p.d}, 0};
  return {{.quantity = "lower bound on the mixed loss of two misclassified points; right: Theorem "
                       "3b of theory.md",
           .claim = Claim::at_least,
           .printed = p.bound().adversarial,
           .corrected = linear_adversarial_bound(model, {p.x, 2, p.d}, p.y, p.moments).floor,
           .truth = p.mixed_loss()}};
}

Numbers true_adversary() {
  const TwoPoints p(1, 1, 10);
  const AdversarialBound bound = p.bound();
  const double moved = p.margin - bound.samples[0].radius * p.margin / p.size;
  return {{.quantity = "lower bound on the second-order mixed loss at margin 10",
           .claim = Claim::at_least,
           .printed = link_values(Link::logistic, -moved).h,
           .corrected = bound.adversarial,
           .truth = p.mixed_loss(),
           .tolerance = 1e-12}};
}

Numbers constant_mean() {
  constexpr ImageSize kSize{8, 8};
  Numbers numbers;
  for (const char* method : {"cutmix", "hmix", "gmix"}) {
    const MixPolicy policy{.method = method};
    const auto spread = [](std::span<const double> nu) {
      const auto [low, high] = std::minmax_element(nu.begin(), nu.end());
      return *high - *low;
    };
    const auto masks = enumerate_masks(policy, kSize);
    std::vector<double> listed;
    for (std::size_t j = 0; j < 64; ++j) {
      listed.push_back(
          over_effective_masks(masks, [j](std::span<const double> n) { return n[j]; }));
    }
    numbers.push_back(
        {.quantity = numbers.empty()
                         ? "greatest less smallest ν_j, published CutMix, 8×8"
                         : std::string("published ") + (numbers.size() == 1 ? "HMix" : "GMix"),
         .printed = 0,
         .corrected = spread(effective_coefficients(policy, kSize).means()),
         .truth = spread(listed),
         .tolerance = 1e-5});
  }
  return numbers;
}

}  // namespace medley::theory::errata_numbers
