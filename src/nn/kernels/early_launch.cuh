#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "kernels/cuda/check.h"

// Kernels that are launched while the one before in their stream still runs, so that it takes no
// time between them.

namespace medley::nn {

/// First thing in a kernel that was launched early: waits until the kernels before are done.
__device__ inline void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#endif
}

/// Lets the next kernel be launched, if that does not mind. It waits for this one's results.
__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

/// Whether the current device can.
inline bool launches_early() {
  int device = 0;
  int major = 0;
  MEDLEY_CUDA_CHECK(cudaGetDevice(&device));
  MEDLEY_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 9;
}

/// Launches a kernel that begins with wait_for_earlier_kernels.
template <typename... Parameters, typename... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 blocks, int threads, int shared_bytes,
                  cudaStream_t stream, Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = launches_early() ? 1 : 0;
  MEDLEY_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

}  // namespace medley::nn
