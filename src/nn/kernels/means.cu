#include "nn/kernels/means.h"

#include "kernels/cuda/check.h"
#include "nn/kernels/bf16_pack.cuh"

namespace medley::nn {
namespace {

constexpr int kColumns = 32;  // that a block does
constexpr int kShares = 8;    // of the rows
constexpr int kThreads = kColumns * kShares;

/// Thread x of share y.
struct Place {
  int column = static_cast<int>(threadIdx.x) % kColumns;
  int share = static_cast<int>(threadIdx.x) / kColumns;
};

template <bool kAdd>
__global__ void __launch_bounds__(kThreads)
    means_kernel(int pixels, int groups, const __nv_bfloat16* a, const __nv_bfloat16* b,
                 float* means) {
  __shared__ float shared[kShares][kColumns][kPackValues + 1];
  const Place place;
  const int group = static_cast<int>(blockIdx.y) * kColumns + place.column;
  const std::int64_t image = blockIdx.x;
  float sums[kPackValues] = {};
  if (group < groups) {
#pragma unroll 4
    for (int pixel = place.share; pixel < pixels; pixel += kShares) {
      const std::int64_t at = (image * pixels + pixel) * groups + group;
      const Pack value = load(a, at);
      Pack more{};
      if constexpr (kAdd) more = load(b, at);
#pragma unroll
      for (int i = 0; i < kPackValues; ++i) {
        sums[i] += __bfloat162float(value.values[i]);
        if constexpr (kAdd) sums[i] += __bfloat162float(more.values[i]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kPackValues; ++i) shared[place.share][place.column][i] = sums[i];
  __syncthreads();
  if (place.share > 0 || group >= groups) return;
  const float scale = 1.0F / static_cast<float>(pixels);
#pragma unroll
  for (int i = 0; i < kPackValues; ++i) {
    float sum = sums[i];
    for (int share = 1; share < kShares; ++share) sum += shared[share][place.column][i];
    means[(image * groups + group) * kPackValues + i] = sum * scale;
  }
}

__global__ void __launch_bounds__(kThreads)
    means_gradient_kernel(std::int64_t packs, int pixels, int groups, const float* dmeans,
                          __nv_bfloat16* dx) {
  const std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= packs) return;
  const std::int64_t image = at / (std::int64_t{pixels} * groups);
  const float* from = dmeans + (image * groups + at % groups) * kPackValues;
  const float scale = 1.0F / static_cast<float>(pixels);
  Pack value;
#pragma unroll
  for (int i = 0; i < kPackValues; ++i) value.values[i] = __float2bfloat16_rn(from[i] * scale);
  store(value, dx, at);
}

__global__ void __launch_bounds__(kThreads)
    column_sums_kernel(int rows, int columns, const float* values, float* sums) {
  __shared__ float shared[kShares][kColumns];
  const Place place;
  const int column = static_cast<int>(blockIdx.x) * kColumns + place.column;
  float sum = 0;
  if (column < columns) {
#pragma unroll 8
    for (int row = place.share; row < rows; row += kShares) {
      sum += values[std::int64_t{row} * columns + column];
    }
  }
  shared[place.share][place.column] = sum;
  __syncthreads();
  if (place.share > 0 || column >= columns) return;
  for (int share = 1; share < kShares; ++share) sum += shared[share][place.column];
  sums[column] = sum;
}

template <typename T>
unsigned blocks_for(T count, int each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace

void launch_means(const MeanShape& shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                  float* means, cudaStream_t stream) {
  const int groups = shape.channels / kPackValues;
  const dim3 blocks(static_cast<unsigned>(shape.images), blocks_for(groups, kColumns));
  const auto kernel = b == nullptr ? means_kernel<false> : means_kernel<true>;
  kernel<<<blocks, kThreads, 0, stream>>>(static_cast<int>(shape.pixels), groups, a, b, means);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

void launch_means_gradient(const MeanShape& shape, const float* dmeans, __nv_bfloat16* dx,
                           cudaStream_t stream) {
  const int groups = shape.channels / kPackValues;
  const std::int64_t packs = shape.images * shape.pixels * groups;
  means_gradient_kernel<<<blocks_for(packs, kThreads), kThreads, 0, stream>>>(
      packs, static_cast<int>(shape.pixels), groups, dmeans, dx);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

void launch_column_sums(std::int32_t rows, std::int32_t columns, const float* values, float* sums,
                        cudaStream_t stream) {
  column_sums_kernel<<<blocks_for(columns, kColumns), kThreads, 0, stream>>>(rows, columns, values,
                                                                             sums);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::nn
