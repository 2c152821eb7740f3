#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "medley/policy.h"
#include "medley/theory/enumerate_masks.h"
#include "medley/theory/loss.h"

namespace medley::theory {

/// Your model, as the expansion of its loss sees it: K scores (logits) of an input of d numbers,
/// and their derivatives along a direction. Must be safe to call from one thread at a time.
class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual std::int64_t inputs() const = 0;
  [[nodiscard]] virtual std::int64_t classes() const = 0;

  /// f(x), K values.
  virtual void value(std::span<const double> x, std::span<double> scores) const = 0;
  /// The derivative of f along u: J u, K values. The default takes central differences of `value`.
  virtual void jvp(std::span<const double> x, std::span<const double> u,
                   std::span<double> scores) const;
  /// u^T (Hessian of f_c) u for every class. The default takes central differences of `value`.
  virtual void hvp(std::span<const double> x, std::span<const double> u,
                   std::span<double> scores) const;
};

/// Labels: m x K rows that sum to 1. The loss is logsumexp(f) - y^T f.
/// The mixed loss over all ordered pairs and every mask of the list; masks have a weight per
/// coordinate. m^2 * masks evaluations of the model.
[[nodiscard]] double exact_loss(const Model& model, const Samples& samples,
                                std::span<const double> labels,
                                std::span<const WeightedMask> masks);

/// The expansion, exact in data and masks: both branches of every mask for every pair.
[[nodiscard]] LossTerms approximate_loss(const Model& model, const Samples& samples,
                                         std::span<const double> labels,
                                         std::span<const WeightedMask> masks);

struct LossEstimate {
  LossTerms terms;
  LossTerms errors;  ///< standard errors; `plain` is exact
};

/// The expansion for a policy on images of `size`, for networks: `draws` masks of the sampler, each
/// with a sample and a partner drawn from all samples, both branches weighted with the label.
/// Inputs are images, channel after channel: d = channels * height * width.
[[nodiscard]] LossEstimate estimate_loss(const Model& model, const Samples& samples,
                                         std::span<const double> labels, const MixPolicy& policy,
                                         ImageSize size, std::int64_t draws, std::uint64_t seed);

/// Repeats the weights of every mask for `channels` channels.
[[nodiscard]] std::vector<WeightedMask> for_channels(std::vector<WeightedMask> masks,
                                                     std::int32_t channels);

}  // namespace medley::theory
