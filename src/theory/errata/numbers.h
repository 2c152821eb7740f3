#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/policy.h"
#include "medley/theory/enumerate_masks.h"
#include "theory/errata/errata.h"

// The numbers of the errata, one function an erratum.
namespace medley::theory::errata_numbers {

using Numbers = std::vector<ErratumNumbers>;

// Theorem 1 and how good it is (expansion.cc).
[[nodiscard]] Numbers swapped_mask();
[[nodiscard]] Numbers hessian_residual();
[[nodiscard]] Numbers nmixup_factor();
[[nodiscard]] Numbers far_minima();
[[nodiscard]] Numbers light_mixing();

// Masks and their coefficients (masks.cc).
[[nodiscard]] Numbers pixel_means();
[[nodiscard]] Numbers box_places();
[[nodiscard]] Numbers squared_outside();
[[nodiscard]] Numbers outside_weight();
[[nodiscard]] Numbers gaussian_mean();
[[nodiscard]] Numbers finite_grid();
[[nodiscard]] Numbers published_gmix();
[[nodiscard]] Numbers design_mean();
[[nodiscard]] Numbers stochastic_weights();
[[nodiscard]] Numbers box_area();

// Shares of the pairs of pixels (pairs.cc).
[[nodiscard]] Numbers distant_pairs();
[[nodiscard]] Numbers intermediate_pairs();

// Theorem 3 (adversarial.cc).
[[nodiscard]] Numbers quadratic_term();
[[nodiscard]] Numbers input_norm();
[[nodiscard]] Numbers signed_mean();
[[nodiscard]] Numbers two_candidates();
[[nodiscard]] Numbers misclassified();
[[nodiscard]] Numbers true_adversary();
[[nodiscard]] Numbers constant_mean();

// Theorem 4 (generalization.cc).
[[nodiscard]] Numbers root_of_rank();
[[nodiscard]] Numbers retentiveness();
[[nodiscard]] Numbers trace_not_rank();
[[nodiscard]] Numbers variance_coefficient();

// What several of them need.

/// A policy with boxes inside the image; at a fixed lam, or with Beta(1, 1) and drawn labels.
[[nodiscard]] MixPolicy inside(const char* method, double lam);
[[nodiscard]] MixPolicy inside_drawn(const char* method);

[[nodiscard]] double mean_of(std::span<const double> values);
[[nodiscard]] std::vector<double> normals(std::size_t count, std::uint64_t seed);

/// E[f(N)] over listed masks, f taking 1 - M of every pixel.
template <typename Function>
double over_masks(std::span<const WeightedMask> masks, const Function& f) {
  double sum = 0;
  std::vector<double> n;
  for (const WeightedMask& mask : masks) {
    n.assign(mask.own.begin(), mask.own.end());
    for (double& value : n) value = 1 - value;
    sum += mask.probability * f(std::span<const double>(n));
  }
  return sum;
}

/// The same over the effective masks: N with the probability of the own label, else 1 - N.
template <typename Function>
double over_effective_masks(std::span<const WeightedMask> masks, const Function& f) {
  double sum = 0;
  std::vector<double> n;
  for (const WeightedMask& mask : masks) {
    n.assign(mask.own.begin(), mask.own.end());
    sum += mask.probability * (1 - mask.label_weight) * f(std::span<const double>(n));
    for (double& value : n) value = 1 - value;
    sum += mask.probability * mask.label_weight * f(std::span<const double>(n));
  }
  return sum;
}

}  // namespace medley::theory::errata_numbers
