#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <torch/torch.h>

#include "medley/cuda.h"
#include "medley/data/dataset.h"
#include "medley/train/loader.h"

namespace medley::nn {

/// What a step reads: images as the network takes them, and their mixed labels.
struct DeviceBatch {
  torch::Tensor images;   // B×C×H×W, channels last
  torch::Tensor classes;  // B×terms, int64
  torch::Tensor weights;  // B×terms, f32

  DeviceBatch(const BatchShape& shape, torch::ScalarType type, std::int32_t terms);
};

/// A batch's memory for `cuda::mix`.
[[nodiscard]] MutableImageBatchView device_view(const torch::Tensor& images);

/// A set of images and their labels in device memory, interleaved.
struct DeviceImages {
  torch::Tensor pixels;  // N×H×W×C, u8
  torch::Tensor labels;  // N, int64

  explicit DeviceImages(const data::ImageSet& images);

  [[nodiscard]] ImageBatchView view() const;
  [[nodiscard]] std::span<const std::int64_t> label_span() const;
};

/// The training and test images of a data set in device memory; runs side by side share them.
struct DeviceData {
  DeviceImages train;
  DeviceImages test;
};

/// Null if the images are in files, or take more than half of the free memory.
[[nodiscard]] std::shared_ptr<const DeviceData> device_data(const data::ImageData& data);

/// The source of a run's batches. `load` only enqueues work on the current stream, with the same
/// pointers every time, so it can be captured into a graph.
class StepInput {
 public:
  virtual ~StepInput() = default;

  /// Gets the epoch ready. False if a graph captured before no longer serves.
  virtual bool begin_epoch(std::uint64_t epoch) = 0;
  /// Gets one of its steps ready. False as above.
  virtual bool prepare(std::int64_t step) = 0;
  /// Enqueues the full step that `index` holds on the device.
  virtual void load(const DeviceBatch& to, const torch::Tensor& index) = 0;
  /// The short step at the end of an epoch.
  virtual void load_short(const DeviceBatch& to) = 0;
  /// The device has enough to do: starts on what the next step needs.
  virtual void look_ahead(std::int64_t /*step*/) {}
  /// Classes per image.
  [[nodiscard]] virtual std::int32_t terms() const = 0;
};

/// Whether the plans of an epoch can be kept at once: those of some methods have a mask of as many
/// values as pixels for every image.
[[nodiscard]] bool plans_fit(const train::BatchLoader& loader);

/// From images in device memory: the plans of an epoch are uploaded at once, and those of the next
/// are made meanwhile.
[[nodiscard]] std::unique_ptr<StepInput> make_resident_input(const DeviceImages& images,
                                                             const train::BatchLoader& loader);

/// From images in host memory or in files, through pinned memory, a batch ahead.
[[nodiscard]] std::unique_ptr<StepInput> make_streamed_input(train::BatchLoader& loader);

}  // namespace medley::nn
