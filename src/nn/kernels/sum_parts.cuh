#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "kernels/cuda/check.h"

namespace medley::nn {

namespace sum_parts {
constexpr int kThreads = 256;
constexpr int kBlockValues = 64;
constexpr int kQuads = kBlockValues / 4;
constexpr int kShares = kThreads / kQuads;

/// A thread has four values and a share of the parts.
template <typename Place>
__global__ void __launch_bounds__(kThreads)
    kernel(int values, int count, const float* parts, __nv_bfloat16* sums, Place place) {
  __shared__ float4 shared[kShares][kQuads];
  const int thread = static_cast<int>(threadIdx.x);
  const int share = thread / kQuads;
  const int quad = thread % kQuads;
  const int first = static_cast<int>(blockIdx.x) * kBlockValues;
  float4 sum = {};
  if (first + quad * 4 < values) {
#pragma unroll 9
    for (int i = share; i < count; i += kShares) {
      const float4 part =
          *reinterpret_cast<const float4*>(parts + std::int64_t{i} * values + first + quad * 4);
      sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
    }
  }
  shared[share][quad] = sum;
  __syncthreads();
  if (thread >= kBlockValues || first + thread >= values) return;
  const float* const column = &shared[0][0].x + thread;
  float total = 0;
  for (int i = 0; i < kShares; ++i) total += column[i * kBlockValues];
  sums[place(first + thread)] = __float2bfloat16_rn(total);
}
}  // namespace sum_parts

/// Adds up `count` parts of `values` values, a multiple of four, in their order: what the blocks of
/// another kernel have left. Sum i goes to `place(i)`.
template <typename Place>
void launch_sum_parts(int values, int count, const float* parts, __nv_bfloat16* sums, Place place,
                      cudaStream_t stream) {
  const int blocks = (values + sum_parts::kBlockValues - 1) / sum_parts::kBlockValues;
  sum_parts::kernel<<<blocks, sum_parts::kThreads, 0, stream>>>(values, count, parts, sums, place);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::nn
