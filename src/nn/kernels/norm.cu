#include "nn/kernels/norm.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/check.h"

namespace medley::nn {
namespace {

constexpr int kThreads = 512;
constexpr int kMaxBlocks = 132;
constexpr int kMaxChannels = 2048;
constexpr int kValues = 8;

/// Eight neighbouring channels of a pixel, 16 bytes.
struct alignas(16) Pack {
  __nv_bfloat16 values[kValues];
};

/// What blocks leave for the last of them.
struct Scratch {
  unsigned done;  // blocks that have left their sums
  unsigned unused[3];
  float sums[2][kMaxBlocks][kMaxChannels];
};

__device__ Pack load(const __nv_bfloat16* from, std::int64_t pack) {
  const uint4 words = __ldg(reinterpret_cast<const uint4*>(from) + pack);
  Pack to;
  std::memcpy(&to, &words, sizeof to);
  return to;
}

__device__ void store(const Pack& from, __nv_bfloat16* to, std::int64_t pack) {
  uint4 words;
  std::memcpy(&words, &from, sizeof words);
  reinterpret_cast<uint4*>(to)[pack] = words;
}

/// Which packs a thread handles: always the same channels, so what belongs to them stays in
/// registers.
struct Lane {
  int groups;    // packs in a pixel
  int per_pass;  // pixels that a block handles at a time
  int group;
  int row;  // within the pass; per_pass if the thread is left over

  __device__ explicit Lane(int channels)
      : groups(channels / kValues),
        per_pass(kThreads / groups),
        group(static_cast<int>(threadIdx.x) % groups),
        row(min(static_cast<int>(threadIdx.x) / groups, per_pass)) {}

  [[nodiscard]] __device__ bool used() const { return row < per_pass; }
  [[nodiscard]] __device__ int first() const {
    return static_cast<int>(blockIdx.x) * per_pass + row;
  }
  [[nodiscard]] __device__ int stride() const { return static_cast<int>(gridDim.x) * per_pass; }
};

__device__ void load_channels(const float* from, int group, float (&to)[kValues]) {
#pragma unroll
  for (int i = 0; i < kValues; ++i) to[i] = from[group * kValues + i];
}

/// Adds up two sums per channel over all threads of all blocks. The block that comes last calls
/// `finish(channel, first, second)` once per channel.
template <typename Finish>
__device__ void reduce(const float (&first)[kValues], const float (&second)[kValues],
                       const Lane& lane, int channels, Scratch* scratch, Finish finish) {
  __shared__ float shared[2][kThreads * kValues];
  __shared__ bool last;
  if (lane.used()) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      const int at = lane.row * channels + lane.group * kValues + i;
      shared[0][at] = first[i];
      shared[1][at] = second[i];
    }
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < channels; c += kThreads) {
    float sums[2] = {};
    for (int r = 0; r < lane.per_pass; ++r) {
      sums[0] += shared[0][r * channels + c];
      sums[1] += shared[1][r * channels + c];
    }
    scratch->sums[0][blockIdx.x][c] = sums[0];
    scratch->sums[1][blockIdx.x][c] = sums[1];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&scratch->done, 1U) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  // Several threads share the blocks of a channel, as far as there are threads.
  const int slices = channels >= kThreads ? 1 : kThreads / channels;
  const int slice = static_cast<int>(threadIdx.x) / min(channels, kThreads);
  for (int c = static_cast<int>(threadIdx.x) % min(channels, kThreads); c < channels;
       c += kThreads) {
    float sums[2] = {};
    if (slice < slices) {
#pragma unroll 4
      for (int b = slice; b < static_cast<int>(gridDim.x); b += slices) {
        sums[0] += __ldcg(&scratch->sums[0][b][c]);
        sums[1] += __ldcg(&scratch->sums[1][b][c]);
      }
      shared[0][slice * channels + c] = sums[0];
      shared[1][slice * channels + c] = sums[1];
    }
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < channels; c += kThreads) {
    float sums[2] = {};
    for (int s = 0; s < slices; ++s) {
      sums[0] += shared[0][s * channels + c];
      sums[1] += shared[1][s * channels + c];
    }
    finish(c, sums[0], sums[1]);
  }
  if (threadIdx.x == 0) scratch->done = 0;
}

/// Sums of x and x², both about the first pixel's value lest they cancel, and what follows from
/// them.
template <bool kAdd>
__global__ void __launch_bounds__(kThreads)
    moments_kernel(int rows, int channels, const __nv_bfloat16* a, const __nv_bfloat16* b,
                   __nv_bfloat16* sum, NormParameters parameters, NormSaved saved,
                   Scratch* scratch) {
  const Lane lane(channels);
  float origin[kValues] = {};
  float first[kValues] = {};
  float second[kValues] = {};
  const auto value_at = [&](std::int64_t pack) {
    Pack x = load(a, pack);
    if constexpr (kAdd) {
      const Pack y = load(b, pack);
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        x.values[i] =
            __float2bfloat16_rn(__bfloat162float(x.values[i]) + __bfloat162float(y.values[i]));
      }
    }
    return x;
  };
  if (lane.used()) {
    const Pack x = value_at(lane.group);
#pragma unroll
    for (int i = 0; i < kValues; ++i) origin[i] = __bfloat162float(x.values[i]);
#pragma unroll 4
    for (int row = lane.first(); row < rows; row += lane.stride()) {
      const std::int64_t pack = std::int64_t{row} * lane.groups + lane.group;
      const Pack value = value_at(pack);
      if constexpr (kAdd) store(value, sum, pack);
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        const float d = __bfloat162float(value.values[i]) - origin[i];
        first[i] += d;
        second[i] = __fmaf_rn(d, d, second[i]);
      }
    }
  }
  reduce(first, second, lane, channels, scratch, [&](int c, float s, float q) {
    const float n = static_cast<float>(rows);
    // As value_at, for one channel.
    float about = __bfloat162float(a[c]);
    if constexpr (kAdd)
      about = __bfloat162float(__float2bfloat16_rn(about + __bfloat162float(b[c])));
    const float offset = s / n;
    const float mean = about + offset;
    const float variance = fmaxf(q / n - offset * offset, 0.0F);
    const float inverse = rsqrtf(variance + parameters.epsilon);
    const float scale = parameters.weight[c] * inverse;
    saved.mean[c] = mean;
    saved.inverse_deviation[c] = inverse;
    saved.scale[c] = scale;
    saved.shift[c] = parameters.bias[c] - mean * scale;
    const float keep = 1 - parameters.momentum;
    parameters.running_mean[c] = keep * parameters.running_mean[c] + parameters.momentum * mean;
    parameters.running_variance[c] = keep * parameters.running_variance[c] +
                                     parameters.momentum * variance * (n / fmaxf(n - 1, 1.0F));
    if (c == 0) ++*parameters.batches;
  });
}

__global__ void __launch_bounds__(kThreads)
    apply_kernel(int rows, int channels, const __nv_bfloat16* x, NormSaved saved,
                 __nv_bfloat16* y) {
  const Lane lane(channels);
  if (!lane.used()) return;
  float scale[kValues];
  float shift[kValues];
  load_channels(saved.scale, lane.group, scale);
  load_channels(saved.shift, lane.group, shift);
#pragma unroll 4
  for (int row = lane.first(); row < rows; row += lane.stride()) {
    const std::int64_t pack = std::int64_t{row} * lane.groups + lane.group;
    Pack value = load(x, pack);
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      const float out = __fmaf_rn(__bfloat162float(value.values[i]), scale[i], shift[i]);
      value.values[i] = __float2bfloat16_rn(out > 0 || out != out ? out : 0.0F);  // NaN stays
    }
    store(value, y, pack);
  }
}

/// Sums of g and g·(x - mean), where g is the gradient that gets through the ReLU.
__global__ void __launch_bounds__(kThreads)
    gradient_sums_kernel(int rows, int channels, const __nv_bfloat16* x, const __nv_bfloat16* dy,
                         NormSaved saved, float* dweight, float* dbias, Scratch* scratch) {
  const Lane lane(channels);
  float first[kValues] = {};
  float second[kValues] = {};
  if (lane.used()) {
    float scale[kValues];
    float shift[kValues];
    float mean[kValues];
    load_channels(saved.scale, lane.group, scale);
    load_channels(saved.shift, lane.group, shift);
    load_channels(saved.mean, lane.group, mean);
#pragma unroll 4
    for (int row = lane.first(); row < rows; row += lane.stride()) {
      const std::int64_t pack = std::int64_t{row} * lane.groups + lane.group;
      const Pack value = load(x, pack);
      const Pack gradient = load(dy, pack);
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        const float v = __bfloat162float(value.values[i]);
        const float g =
            __fmaf_rn(v, scale[i], shift[i]) > 0 ? __bfloat162float(gradient.values[i]) : 0.0F;
        first[i] += g;
        second[i] = __fmaf_rn(g, v - mean[i], second[i]);
      }
    }
  }
  reduce(first, second, lane, channels, scratch, [&](int c, float s, float q) {
    dbias[c] = s;
    dweight[c] = q * saved.inverse_deviation[c];
  });
}

/// dx = scale · (g - mean of g - normalised x · mean of (g · normalised x)), plus `dsum`.
template <bool kAdd>
__global__ void __launch_bounds__(kThreads)
    gradient_kernel(int rows, int channels, const __nv_bfloat16* x, const __nv_bfloat16* dy,
                    const __nv_bfloat16* dsum, NormSaved saved, const float* dweight,
                    const float* dbias, __nv_bfloat16* dx) {
  const Lane lane(channels);
  if (!lane.used()) return;
  float scale[kValues];
  float shift[kValues];
  float slope[kValues];  // dx = scale · g + slope · x + rest
  float rest[kValues];
  load_channels(saved.scale, lane.group, scale);
  load_channels(saved.shift, lane.group, shift);
  const float n = static_cast<float>(rows);
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    const int c = lane.group * kValues + i;
    slope[i] = -scale[i] * saved.inverse_deviation[c] * (dweight[c] / n);
    rest[i] = -scale[i] * (dbias[c] / n) - slope[i] * saved.mean[c];
  }
#pragma unroll 4
  for (int row = lane.first(); row < rows; row += lane.stride()) {
    const std::int64_t pack = std::int64_t{row} * lane.groups + lane.group;
    const Pack value = load(x, pack);
    Pack gradient = load(dy, pack);
    Pack more;
    if constexpr (kAdd) more = load(dsum, pack);
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      const float v = __bfloat162float(value.values[i]);
      const float g =
          __fmaf_rn(v, scale[i], shift[i]) > 0 ? __bfloat162float(gradient.values[i]) : 0.0F;
      float out = __fmaf_rn(scale[i], g, __fmaf_rn(slope[i], v, rest[i]));
      if constexpr (kAdd) out += __bfloat162float(more.values[i]);
      gradient.values[i] = __float2bfloat16_rn(out);
    }
    store(gradient, dx, pack);
  }
}

/// Enough blocks that each thread has a few pixels, but no more than fill the device once.
int blocks_for(const NormShape& shape) {
  constexpr std::int64_t kRowsPerThread = 4;
  const std::int64_t per_block = kRowsPerThread * (kThreads / (shape.channels / kValues));
  return static_cast<int>(
      std::clamp<std::int64_t>((shape.rows + per_block - 1) / per_block, 1, kMaxBlocks));
}

/// As many as the device holds at a time: nothing has to be summed up between them.
int plain_blocks_for(const NormShape& shape) {
  constexpr std::int64_t kRowsPerThread = 2;
  const std::int64_t per_block = kRowsPerThread * (kThreads / (shape.channels / kValues));
  return static_cast<int>(
      std::clamp<std::int64_t>((shape.rows + per_block - 1) / per_block, 1, 4 * kMaxBlocks));
}

}  // namespace

std::size_t norm_scratch_bytes() { return sizeof(Scratch); }

void launch_norm_relu(const NormShape& shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                      __nv_bfloat16* sum, __nv_bfloat16* y, const NormParameters& parameters,
                      const NormSaved& saved, void* scratch, cudaStream_t stream) {
  const int rows = static_cast<int>(shape.rows);
  auto* sums = static_cast<Scratch*>(scratch);
  if (b == nullptr) {
    moments_kernel<false><<<blocks_for(shape), kThreads, 0, stream>>>(rows, shape.channels, a, b,
                                                                      sum, parameters, saved, sums);
  } else {
    moments_kernel<true><<<blocks_for(shape), kThreads, 0, stream>>>(rows, shape.channels, a, b,
                                                                     sum, parameters, saved, sums);
  }
  MEDLEY_CUDA_CHECK(cudaGetLastError());
  apply_kernel<<<plain_blocks_for(shape), kThreads, 0, stream>>>(rows, shape.channels,
                                                                 b == nullptr ? a : sum, saved, y);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

void launch_norm_relu_backward(const NormShape& shape, const __nv_bfloat16* x,
                               const __nv_bfloat16* dy, const __nv_bfloat16* dsum,
                               const NormSaved& saved, float* dweight, float* dbias,
                               __nv_bfloat16* dx, void* scratch, cudaStream_t stream) {
  const int rows = static_cast<int>(shape.rows);
  gradient_sums_kernel<<<blocks_for(shape), kThreads, 0, stream>>>(
      rows, shape.channels, x, dy, saved, dweight, dbias, static_cast<Scratch*>(scratch));
  MEDLEY_CUDA_CHECK(cudaGetLastError());
  const int blocks = plain_blocks_for(shape);
  if (dsum == nullptr) {
    gradient_kernel<false><<<blocks, kThreads, 0, stream>>>(rows, shape.channels, x, dy, dsum,
                                                            saved, dweight, dbias, dx);
  } else {
    gradient_kernel<true><<<blocks, kThreads, 0, stream>>>(rows, shape.channels, x, dy, dsum, saved,
                                                           dweight, dbias, dx);
  }
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::nn
