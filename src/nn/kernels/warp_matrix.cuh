#pragma once

#include <cstdint>

#include "nn/kernels/shared_memory.cuh"

// Products of matrices of bf16 by one warp, and copies to shared memory in groups: compute
// capability 8.0 and later.

namespace medley::nn {

/// Ends a group of copies that this thread has started.
__device__ inline void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}
/// Waits for all groups of this thread but the last kLeft.
template <int kLeft>
__device__ inline void wait_for_copy_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kLeft) : "memory");
#endif
}

/// Four matrices of 8 x 8 from shared memory. Lanes 8i to 8i+7 say where the rows of matrix i are.
/// A lane gets two neighbors of row lane/4, or of column lane/4 where turned.
template <bool kTurned>
__device__ inline void load_matrices(std::uint32_t (&to)[4], std::uint32_t row) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kTurned) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  }
#else
  __trap();
#endif
}

/// Sums of 16 x 8 products: a lane has rows lane/4 and lane/4+8, columns lane%4*2 and the next.
using WarpSums = float[4];

/// Adds the product of 16 x 16 and 16 x 8 values. Of the second matrix, a lane has column lane/4:
/// rows lane%4*2 and the next, and those 8 below.
__device__ inline void multiply_add(WarpSums& sums, const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();
#endif
}

}  // namespace medley::nn
