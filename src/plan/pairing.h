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

/// Draws partners from a whole data set by its labels and rules; built once, used for each sample.
class DatasetPairing {
 public:
  /// `labels` is empty or has `size` entries and must outlive the object.
  DatasetPairing(std::int64_t size, bool no_self, ClassRule classes,
                 std::span<const std::int64_t> labels);

  /// A data-set index for the sample at data-set index `own`; `own` itself if none is eligible.
  [[nodiscard]] std::int64_t draw(std::int64_t own, std::int32_t round, std::uint64_t seed,
                                  std::uint64_t epoch, std::uint64_t ordinal) const;

 private:
  std::int64_t size_;
  bool no_self_;
  ClassRule classes_;
  std::span<const std::int64_t> labels_;
  std::vector<std::int64_t> by_class_;  // data-set indices sorted by (class, index)
};

}  // namespace medley
