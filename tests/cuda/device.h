#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernels/cuda/check.h"
#include "kernels/cuda/memory.h"
#include "medley/cuda.h"

namespace medley::test {

/// Skips where there is no device.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::devices().empty()) GTEST_SKIP() << "no CUDA device on this machine";
  }
};

template <typename T>
cuda::DeviceArray<T> upload(const std::vector<T>& values) {
  return cuda::DeviceArray<T>(std::span<const T>(values));
}

template <typename T>
std::vector<T> download(const cuda::DeviceArray<T>& array, std::size_t count) {
  std::vector<T> values(count);
  MEDLEY_CUDA_CHECK(
      cudaMemcpy(values.data(), array.get(), count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace medley::test
