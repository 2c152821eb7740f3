#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace medley::nn {

/// As instructions for shared memory want it.
__device__ inline std::uint32_t shared_address(const void* memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

/// Starts a copy of 16 bytes to shared memory; of zeros unless `there`.
__device__ inline void copy_async(std::uint32_t to, const void* from, bool there) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
#else
  __trap();
#endif
}

}  // namespace medley::nn
