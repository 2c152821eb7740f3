#pragma once

#include <cuda_runtime.h>

namespace medley::cuda {

/// Throws CudaError with what was being done and CUDA's reason, unless `status` is success;
/// DeviceMemoryError if memory was missing.
void check(cudaError_t status, const char* what);

}  // namespace medley::cuda

/// For every call and after every launch.
#define MEDLEY_CUDA_CHECK(call) ::medley::cuda::check((call), #call)
