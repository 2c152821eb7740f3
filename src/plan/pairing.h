#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/policy.h"

namespace medley {

/// Who may mix with whom within a batch of `count` samples.
struct BatchPairing {
  Pairing pairing = Pairing::batch;  // not `dataset`
  bool mutual = false;               // partners are each other's partner where possible
  bool no_self = false;
  ClassRule classes = ClassRule::any;
  std::span<const std::int64_t> labels;  // `count` of them if `classes` is not `any`
};

/// Partner position of every sample of a batch. `random` keys the draw; `round` tells the partners
/// of an n-sample method apart (1 for the first). A sample without an eligible partner is its own.
[[nodiscard]] std::vector<std::int64_t> draw_batch_partners(const BatchPairing& rules,
                                                            std::int64_t count, std::int32_t round,
                                                            std::uint64_t seed, std::uint64_t epoch,
                                                            std::uint64_t batch_ordinal);

/// The classes of a data set and who belongs to which. Sorting a large one takes longer than a
/// plan.
struct ClassIndex {
  explicit ClassIndex(std::span<const std::int64_t> labels);

  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> by_class;  // data-set indices sorted by (class, index)
};

/// Draws partners from a whole data set by its classes and rules.
class DatasetPairing {
 public:
  /// `index` must outlive the object; null if `classes` is `any`.
  DatasetPairing(std::int64_t size, bool no_self, ClassRule classes, const ClassIndex* index);

  /// A data-set index for the sample at data-set index `own`; `own` itself if none is eligible.
  [[nodiscard]] std::int64_t draw(std::int64_t own, std::int32_t round, std::uint64_t seed,
                                  std::uint64_t epoch, std::uint64_t ordinal) const;

 private:
  std::int64_t size_;
  bool no_self_;
  ClassRule classes_;
  const ClassIndex* index_;
};

}  // namespace medley
