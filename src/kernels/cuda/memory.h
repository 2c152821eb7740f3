#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <cuda_runtime.h>

#include "kernels/cuda/check.h"

namespace medley::cuda {

/// Device memory of its own, filled from the host.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) {
    if (count > 0) MEDLEY_CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    if (values.empty()) return;
    MEDLEY_CUDA_CHECK(
        cudaMemcpy(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() {
    // Fails only if the device is lost, and then there is nothing to free.
    (void)cudaFree(data_);
  }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] T* get() const noexcept { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace medley::cuda
