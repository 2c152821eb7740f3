#include "kernels/cuda/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"

namespace medley {
namespace {

// These need no device.

TEST(CudaCheck, SaysWhatFailedAndWhy) {
  EXPECT_NO_THROW(cuda::check(cudaSuccess, "copy"));
  try {
    cuda::check(cudaErrorInvalidValue, "copy");
    FAIL() << "nothing was thrown";
  } catch (const DeviceMemoryError&) {
    FAIL() << "memory was not the problem";
  } catch (const CudaError& problem) {
    EXPECT_THAT(problem.what(), testing::HasSubstr("copy"));
    EXPECT_THAT(problem.what(), testing::HasSubstr(cudaGetErrorString(cudaErrorInvalidValue)));
  }
}

TEST(CudaCheck, TellsMissingMemoryFromOtherProblems) {
  EXPECT_THROW(cuda::check(cudaErrorMemoryAllocation, "cudaMalloc"), DeviceMemoryError);
}

}  // namespace
}  // namespace medley
