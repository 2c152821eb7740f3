#include "kernels/cuda/check.h"

#include <fmt/format.h>

#include "core/check.h"

namespace medley::cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  // The error stays with the thread until it is read; the next call must not report it again.
  (void)cudaGetLastError();
  fail_cuda(fmt::format("CUDA failed at {}: {}", what, cudaGetErrorString(status)));
}

}  // namespace medley::cuda
