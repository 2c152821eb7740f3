#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "medley/mix.h"
#include "medley/plan.h"
#include "medley/types.h"

// Mixing on CUDA devices. Part of builds with MEDLEY_BUILD_CUDA (`medley::cuda` exists then).
//
// All functions act on the current device and, unless stated, only enqueue work on the caller's
// stream: no synchronization, no allocation, so they can be captured into a CUDA graph. Pointers in
// views and spans are device memory. Results have the bits of the CPU backends.

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace medley::cuda {

/// A cudaStream_t.
using Stream = CUstream_st*;

/// A GPU.
struct DeviceInfo {
  int index = 0;
  std::string name;
  int major = 0;  ///< compute capability
  int minor = 0;
  std::size_t memory = 0;  ///< bytes
};

/// The devices that can be used; none if there is no driver.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// Which batch of a plan: the index on the device (null: the first), plus an offset that is fixed
/// when the call is made, modulo the number of batches. With it a graph can hold several steps and
/// advance the index once.
struct StepIndex {
  const std::int64_t* index = nullptr;
  std::int64_t offset = 0;
};

/// Plans in device memory: one batch, or the batches of an epoch, of which a step index that lives
/// on the device selects one. Uploading allocates and, unless it is given a stream, synchronizes;
/// it is the only part that does.
class DevicePlan {
 public:
  /// `steps` are plans of one size and one number of entries, over an input of `images` images.
  /// Throws InvalidArgument if they do not fit together, CudaError if the device fails.
  DevicePlan(std::span<const MixPlan> steps, std::int64_t images);
  /// One batch.
  DevicePlan(const MixPlan& plan, std::int64_t images);
  /// One batch in the order of a stream: allocated, copied and later freed there, without waiting
  /// for the device. To be used on that stream alone, and to be destroyed before it.
  DevicePlan(const MixPlan& plan, std::int64_t images, Stream stream);
  ~DevicePlan();
  DevicePlan(DevicePlan&&) noexcept;
  DevicePlan& operator=(DevicePlan&&) noexcept;
  DevicePlan(const DevicePlan&) = delete;
  DevicePlan& operator=(const DevicePlan&) = delete;

  /// Puts other batches in the place of these, in the same memory, so that graphs captured with
  /// this plan mix them from now on, in the order of the stream. False, and nothing is changed, if
  /// they differ in number or size, or need memory or kernels that the first ones did not. Throws
  /// as the constructors.
  [[nodiscard]] bool update(std::span<const MixPlan> steps, Stream stream);
  /// Puts other batches in the place of these, in new memory that has room for both, and with
  /// kernels for both: `update` takes either kind from now on, if number, size and terms of a label
  /// are the same. Synchronizes.
  void extend(std::span<const MixPlan> steps);

  /// Number of batches, outputs of each, images of the input, and size of the outputs.
  [[nodiscard]] std::int64_t steps() const noexcept;
  [[nodiscard]] std::int64_t batch() const noexcept;
  [[nodiscard]] std::int64_t images() const noexcept;
  [[nodiscard]] ImageSize size() const noexcept;
  /// Terms per sample in label form: 2 unless the method mixes more.
  [[nodiscard]] std::int32_t label_terms() const noexcept;

  struct Impl;
  [[nodiscard]] const Impl& impl() const noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// As medley::mix, on device memory; never in place. `step` points to the step index on the device
/// (null: step 0); it is taken modulo the number of steps. `options.backend`, `threads` and
/// `stores` have no meaning here. At most 256 channels if values are normalized.
void mix(const DevicePlan& plan, const ImageBatchView& in, const MutableImageBatchView& out,
         const MixOptions& options, Stream stream, StepIndex step = {});

/// As medley::mix_labels: `classes` and `weights` get batch x label_terms values. `labels` has one
/// class per image of the input; negative ones cannot be reported from the device.
void mix_labels(const DevicePlan& plan, std::span<const std::int64_t> labels,
                std::span<std::int64_t> classes, std::span<float> weights, Stream stream,
                StepIndex step = {});

/// Rows of probabilities, batch x num_classes, straight from class labels, with label smoothing.
/// Labels outside [0, num_classes) add nothing: they cannot be reported from the device.
void soft_labels(const DevicePlan& plan, std::span<const std::int64_t> labels,
                 std::int64_t num_classes, std::span<float> rows, double smoothing, Stream stream,
                 StepIndex step = {});

/// Adds `by` to a step index on the device: the last node of a captured training step.
void advance(std::int64_t* step, Stream stream, std::int64_t by = 1);

}  // namespace medley::cuda
