#include "kernels/cuda/check.h"

#include <string>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/error.h"

namespace medley::cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  // The error stays with the thread until it is read; the next call must not report it again.
  (void)cudaGetLastError();
  const std::string message =
      fmt::format("CUDA failed at {}: {}", what, cudaGetErrorString(status));
  if (status == cudaErrorMemoryAllocation) throw DeviceMemoryError(message);
  fail_cuda(message);
}

}  // namespace medley::cuda
