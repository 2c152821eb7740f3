#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/labels.h"
#include "medley/mix.h"
#include "medley/sampler.h"
#include "medley/train/recipe.h"

namespace medley::train {

class DecodeQueue;

/// A batch before it is mixed: `mix(plan, images, …)` makes it.
struct BatchSources {
  MixPlan plan;
  ImageBatchView images;
  MixedLabels labels;
  std::shared_ptr<const void> owner;  ///< keeps the images, unless they are the data set's
};

/// A plan that leaves images as they are: output i is image numbers[i].
[[nodiscard]] MixPlan unmixed_plan(std::span<const std::int64_t> numbers, ImageSize size);

/// The batches of a training run, straight from the data set into the network's tensor: shuffled,
/// cropped, flipped, mixed and normalized in one pass. Has no state that shows: (seed, epoch, step)
/// says everything, so a run can go on anywhere. Images in files are decoded ahead, in threads of
/// its own, a few batches at a time.
class BatchLoader {
 public:
  /// `images` must outlive the loader. Throws InvalidArgument if the recipe does not fit them.
  BatchLoader(const data::ImageSet& images, const Recipe& recipe, std::uint64_t seed, int threads);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Batches of an epoch; the last may be short.
  [[nodiscard]] std::int64_t steps() const noexcept;
  /// Images in a batch of the epoch.
  [[nodiscard]] std::int64_t batch_size(std::int64_t step) const noexcept;
  /// Of `count` images as the network sees them.
  [[nodiscard]] BatchShape shape(std::int64_t count) const noexcept;

  /// Order of the images in an epoch.
  [[nodiscard]] std::vector<std::int64_t> order(std::uint64_t epoch) const;

  /// The plan of batch `step` of an epoch, over the numbers of the images. `order` is that of the
  /// epoch. May be called from any thread.
  [[nodiscard]] MixPlan plan(std::uint64_t epoch, std::int64_t step,
                             std::span<const std::int64_t> order) const;
  /// How images become the network's input.
  [[nodiscard]] const MixOptions& options() const noexcept { return options_; }

  /// What batch `step` of an epoch is made of. `order` is that of the epoch. Throws IoError if an
  /// image cannot be decoded.
  [[nodiscard]] BatchSources sources(std::uint64_t epoch, std::int64_t step,
                                     std::span<const std::int64_t> order);

  /// Writes batch `step` of an epoch to `out` (f32, of `shape(batch_size(step))`) and returns its
  /// labels. Throws as `sources`, and InvalidArgument if `out` does not fit.
  MixedLabels load(std::uint64_t epoch, std::int64_t step, std::span<const std::int64_t> order,
                   const MutableImageBatchView& out);

  /// The images of these numbers, unmixed, for evaluation: whole, or cut from the middle if they
  /// are in files. Returns their labels, -1 for those that cannot be decoded and are skipped. The
  /// images must have as many channels as the loader's own.
  std::vector<std::int64_t> load_plain(const data::ImageSet& images,
                                       std::span<const std::int64_t> numbers,
                                       const MutableImageBatchView& out) const;

 private:
  const data::ImageSet& images_;
  std::uint64_t seed_;
  std::int64_t batch_;
  ImageSize size_;
  std::int32_t test_resize_;
  bool exif_;
  MixOptions options_;
  Sampler sampler_;
  std::unique_ptr<DecodeQueue> queue_;  // only for images in files
};

}  // namespace medley::train
