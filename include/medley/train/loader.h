#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/labels.h"
#include "medley/mix.h"
#include "medley/sampler.h"
#include "medley/train/recipe.h"

namespace medley {

/// The batches of a training run, straight from the data set into the network's tensor: shuffled,
/// cropped, flipped, mixed and normalised in one pass. Has no state: (seed, epoch, step) says
/// everything, so a run can go on anywhere.
class BatchLoader {
 public:
  /// `images` must outlive the loader. Throws InvalidArgument if the recipe does not fit them.
  BatchLoader(const ImageSet& images, const Recipe& recipe, std::uint64_t seed, int threads);

  /// Batches of an epoch; the last may be short.
  [[nodiscard]] std::int64_t steps() const noexcept;
  /// Images in a batch of the epoch.
  [[nodiscard]] std::int64_t batch_size(std::int64_t step) const noexcept;

  /// Order of the images in an epoch.
  [[nodiscard]] std::vector<std::int64_t> order(std::uint64_t epoch) const;

  /// Writes batch `step` of an epoch to `out` (f32, batch_size(step) images of the set's shape) and
  /// returns its labels. `order` is that of the epoch. Throws InvalidArgument if `out` does not
  /// fit.
  MixedLabels load(std::uint64_t epoch, std::int64_t step, std::span<const std::int64_t> order,
                   const MutableImageBatchView& out) const;

  /// Images [first, first + out.shape.count) as they are, only normalised: for evaluation.
  void load_plain(const ImageSet& images, std::int64_t first,
                  const MutableImageBatchView& out) const;

 private:
  const ImageSet& images_;
  std::uint64_t seed_;
  std::int64_t batch_;
  MixOptions options_;
  Sampler sampler_;
};

}  // namespace medley
