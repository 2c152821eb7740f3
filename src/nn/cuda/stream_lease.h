#pragma once

#include <c10/cuda/CUDAStream.h>

namespace medley::nn {

/// A stream of LibTorch's pool that no other lease has: the pool itself deals its 32 streams out in
/// turn, and what one run captures on a stream must not meet the work of another.
class StreamLease {
 public:
  /// Throws DeviceMemoryError if all are taken, so that fewer runs go on side by side.
  explicit StreamLease(bool high_priority = false);
  ~StreamLease();
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;

  [[nodiscard]] c10::cuda::CUDAStream stream() const noexcept { return stream_; }

 private:
  c10::cuda::CUDAStream stream_;
};

}  // namespace medley::nn
