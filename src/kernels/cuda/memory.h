#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <cuda_runtime.h>

#include "kernels/cuda/check.h"

namespace medley::cuda {

/// Where memory comes from: the device as a whole, which synchronizes, or in the order of a stream.
struct Allocation {
  bool ordered = false;
  cudaStream_t stream = nullptr;
};

/// The pool of the current device for memory in the order of a stream. What plans gave back stays
/// in it for the next.
[[nodiscard]] cudaMemPool_t plan_pool();

/// Copies to device memory in the order of a stream and does not wait for it: through pinned memory
/// that is kept for the next copies. `parts` are put one after the other, each where a multiple of
/// kPartAlignment begins.
void copy_parts(std::span<const std::span<const std::byte>> parts, std::byte* to,
                cudaStream_t stream);

constexpr std::size_t kPartAlignment = 256;

/// Bytes of a part with what keeps it apart from the next.
[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

/// Device memory of its own, filled from the host.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count, Allocation from = {}) : count_(count), from_(from) {
    if (count == 0) return;
    void* memory = nullptr;
    MEDLEY_CUDA_CHECK(cudaGetDevice(&device_));
    if (from.ordered) {
      MEDLEY_CUDA_CHECK(
          cudaMallocFromPoolAsync(&memory, count * sizeof(T), plan_pool(), from.stream));
    } else {
      MEDLEY_CUDA_CHECK(cudaMalloc(&memory, count * sizeof(T)));
    }
    data_ = static_cast<T*>(memory);
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    if (values.empty()) return;
    MEDLEY_CUDA_CHECK(
        cudaMemcpy(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() {
    // Fails only if the device is lost, and then there is nothing to free.
    if (data_ == nullptr) return;
    if (!from_.ordered) {
      (void)cudaFree(data_);
      return;
    }
    int current = 0;  // the default stream is another one on each device
    (void)cudaGetDevice(&current);
    if (current != device_) (void)cudaSetDevice(device_);
    (void)cudaFreeAsync(data_, from_.stream);
    if (current != device_) (void)cudaSetDevice(current);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        count_(other.count_),
        device_(other.device_),
        from_(other.from_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(device_, other.device_);
    std::swap(from_, other.from_);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] T* get() const noexcept { return data_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
  int device_ = 0;
  Allocation from_;
};

}  // namespace medley::cuda
