#include "python/device.h"

#include <memory>

#include <cuda_runtime.h>

#include "kernels/cuda/check.h"
#include "medley/cuda.h"
#include "medley/error.h"

namespace medley::python {
namespace {

/// Makes a device the current one while it lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    MEDLEY_CUDA_CHECK(cudaGetDevice(&before_));
    if (before_ != device) MEDLEY_CUDA_CHECK(cudaSetDevice(device));
  }
  ~CurrentDevice() { static_cast<void>(cudaSetDevice(before_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

cuda::Stream stream_of(std::int64_t number) noexcept {
  return reinterpret_cast<cuda::Stream>(static_cast<std::uintptr_t>(number));
}

/// Uploads cannot be part of a graph: they go through memory that is used again.
void check_not_capturing(cuda::Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  MEDLEY_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  if (status == cudaStreamCaptureStatusNone) return;
  throw InvalidArgument(
      "a graph is being captured on this stream: apply the plan on it once before, with as many "
      "images");
}

}  // namespace

std::shared_ptr<const cuda::DevicePlan> Plan::on_device(int device, std::int64_t images,
                                                        std::int64_t stream) const {
  const std::lock_guard lock(mutex_);
  if (!uploaded_ || uploaded_to_ != device || uploaded_on_ != stream ||
      uploaded_->images() != images) {
    check_not_capturing(stream_of(stream));
    uploaded_ = std::make_shared<const cuda::DevicePlan>(plan_, images, stream_of(stream));
    uploaded_to_ = device;
    uploaded_on_ = stream;
  }
  return uploaded_;
}

void mix_on_device(const Plan& plan, const ImageBatchView& in, const MutableImageBatchView& out,
                   const MixOptions& options, Device device, std::int64_t stream) {
  const CurrentDevice current(device.index);
  cuda::mix(*plan.on_device(device.index, in.shape.count, stream), in, out, options,
            stream_of(stream));
}

void mix_labels_on_device(const Plan& plan, std::span<const std::int64_t> labels,
                          std::span<std::int64_t> classes, std::span<float> weights, Device device,
                          std::int64_t stream) {
  const CurrentDevice current(device.index);
  cuda::mix_labels(*plan.on_device(device.index, std::ssize(labels), stream), labels, classes,
                   weights, stream_of(stream));
}

void synchronize(int device, std::int64_t stream) {
  const CurrentDevice current(device);  // the default stream is another one on each device
  MEDLEY_CUDA_CHECK(cudaStreamSynchronize(stream_of(stream)));
}

}  // namespace medley::python
