#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <cuda_runtime.h>

#include "kernels/cuda/check.h"

namespace medley::cuda {

/// Where memory comes from: the device as a whole, which synchronises, or in the order of a stream.
struct Allocation {
  bool ordered = false;
  cudaStream_t stream = nullptr;
};

/// The pool of the current device for memory in the order of a stream. What plans gave back stays
/// in it for the next.
[[nodiscard]] cudaMemPool_t plan_pool();

/// Device memory of its own, filled from the host.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (count > 0) MEDLEY_CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
  }
  explicit DeviceArray(std::span<const T> values, Allocation from = {})
      : count_(values.size()), from_(from) {
    if (values.empty()) return;
    if (from.ordered) {
      void* memory = nullptr;
      MEDLEY_CUDA_CHECK(
          cudaMallocFromPoolAsync(&memory, values.size_bytes(), plan_pool(), from.stream));
      data_ = static_cast<T*>(memory);
      MEDLEY_CUDA_CHECK(cudaMemcpyAsync(data_, values.data(), values.size_bytes(),
                                        cudaMemcpyHostToDevice, from.stream));
    } else {
      MEDLEY_CUDA_CHECK(cudaMalloc(&data_, values.size_bytes()));
      MEDLEY_CUDA_CHECK(
          cudaMemcpy(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
    }
  }
  ~DeviceArray() {
    // Fails only if the device is lost, and then there is nothing to free.
    if (data_ == nullptr) return;
    (void)(from_.ordered ? cudaFreeAsync(data_, from_.stream) : cudaFree(data_));
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(other.count_), from_(other.from_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(from_, other.from_);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] T* get() const noexcept { return data_; }
  [[nodiscard]] bool holds(std::span<const T> values) const noexcept {
    return values.size() <= count_;
  }
  /// Copies values that it holds to its beginning, in the order of a stream.
  void fill(std::span<const T> values, cudaStream_t stream) const {
    if (values.empty()) return;
    MEDLEY_CUDA_CHECK(
        cudaMemcpyAsync(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream));
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
  Allocation from_;
};

}  // namespace medley::cuda
