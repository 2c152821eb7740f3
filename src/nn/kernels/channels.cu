#include "nn/kernels/channels.h"

#include "kernels/cuda/check.h"

namespace medley::nn {
namespace {

constexpr int kThreads = 256;

struct alignas(16) Pixel {
  __nv_bfloat16 values[kWideChannels];
};

__device__ std::int64_t own_row() { return std::int64_t{blockIdx.x} * kThreads + threadIdx.x; }

__global__ void __launch_bounds__(kThreads)
    widen_kernel(std::int64_t rows, int channels, const __nv_bfloat16* from, Pixel* to) {
  const std::int64_t row = own_row();
  if (row >= rows) return;
  Pixel pixel{};
#pragma unroll
  for (int c = 0; c < kWideChannels; ++c) {
    if (c < channels) pixel.values[c] = from[row * channels + c];
  }
  to[row] = pixel;
}

__global__ void __launch_bounds__(kThreads)
    narrow_kernel(std::int64_t rows, int channels, const Pixel* from, __nv_bfloat16* to) {
  const std::int64_t row = own_row();
  if (row >= rows) return;
  const Pixel pixel = from[row];
#pragma unroll
  for (int c = 0; c < kWideChannels; ++c) {
    if (c < channels) to[row * channels + c] = pixel.values[c];
  }
}

unsigned blocks_for(std::int64_t rows) {
  return static_cast<unsigned>((rows + kThreads - 1) / kThreads);
}

}  // namespace

void launch_widen(std::int64_t rows, std::int32_t channels, const __nv_bfloat16* from,
                  __nv_bfloat16* to, cudaStream_t stream) {
  widen_kernel<<<blocks_for(rows), kThreads, 0, stream>>>(rows, channels, from,
                                                          reinterpret_cast<Pixel*>(to));
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

void launch_narrow(std::int64_t rows, std::int32_t channels, const __nv_bfloat16* from,
                   __nv_bfloat16* to, cudaStream_t stream) {
  narrow_kernel<<<blocks_for(rows), kThreads, 0, stream>>>(
      rows, channels, reinterpret_cast<const Pixel*>(from), to);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::nn
