#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "medley/plan.h"
#include "medley/policy.h"
#include "medley/types.h"

namespace medley {

/// Which samples to plan for.
struct PlanRequest {
  std::int64_t batch = 0;   ///< batch size
  std::int64_t first = 0;   ///< ordinal of the first sample in its epoch
  std::int64_t count = -1;  ///< samples wanted; default: `batch`. The last batch may be short.
  std::uint64_t epoch = 0;
  /// Needed by pairing `dataset`. Others may leave it 0; if not, no sample may lie outside.
  std::int64_t dataset_size = 0;
  /// Classes, for `ClassRule`: of the data set if `dataset_size` > 0, else of the `count` samples.
  std::span<const std::int64_t> labels = {};
  /// Data-set index of each ordinal of the epoch (a shuffle). With it the plan's sources are
  /// data-set indices; without it they are ordinals.
  std::span<const std::int64_t> order = {};
  int threads = 0;  ///< 0: all cores; used by methods that make fields. The result is the same.
};

/// Turns a policy into plans. Every draw depends only on (seed, epoch, ordinal, purpose), so a plan
/// does not depend on how an epoch is cut into requests, threads or processes:
///   - mode `sample` with pairing `dataset`: any `first` and `count`;
///   - mode `batch` or `pair`, and pairings within the batch: `first` is a multiple of `batch`, and
///     draws that a batch shares are keyed by first / batch.
/// A sample for which the rules leave no partner (a batch of one with `no_self`, say) is its own
/// partner and stays unmixed.
/// Immutable after construction: `plan` may be called from any number of threads.
class Sampler {
 public:
  /// Throws InvalidArgument if the policy cannot work for images of this size.
  Sampler(MixPolicy policy, ImageSize size, std::uint64_t seed);
  ~Sampler();
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// The plan of these samples. Throws InvalidArgument if the request does not fit the policy.
  [[nodiscard]] MixPlan plan(const PlanRequest& request) const;

  /// What it was made with.
  [[nodiscard]] const MixPolicy& policy() const noexcept;
  [[nodiscard]] ImageSize size() const noexcept;
  [[nodiscard]] std::uint64_t seed() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace medley
