#include "nn/kernels/norm.h"

#include <algorithm>

#include "kernels/cuda/check.h"
#include "nn/kernels/bf16_pack.cuh"
#include "nn/kernels/early_launch.cuh"

namespace medley::nn {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocks = 132;  // fill an H200 once
constexpr int kValues = kPackValues;
constexpr int kMaxChannels = 2048;

/// Sums are taken by slices of channels: 128 bytes of a pixel, so that few blocks share a slice.
constexpr int kSliceGroups = 8;
constexpr int kMaxSlices = kMaxChannels / kValues;

/// What the blocks of one kernel leave for those of the next: two sums per channel of their slice.
struct Scratch {
  float2 sums[std::max(kMaxSlices, kBlocks)][kSliceGroups * kValues];
};

/// Who has left them.
struct Shares {
  int count;     // blocks of a slice
  int channels;  // of a slice
};

/// Which packs a thread handles: always the same channels, so what belongs to them stays in
/// registers. Blocks have `width` packs of a pixel, all of them or a slice.
struct Lane {
  int groups;    // packs in a pixel
  int width;     // packs of them in the slice
  int per_pass;  // pixels that a block handles at a time
  int column;    // pack within the slice
  int group;     // pack within the pixel
  int row;       // within the pass; per_pass if the thread is left over

  __device__ Lane(int channels, int slice)
      : groups(channels / kValues),
        width(slice),
        per_pass(kThreads / slice),
        column(static_cast<int>(threadIdx.x) % slice),
        group(static_cast<int>(blockIdx.y) * slice + column),
        row(min(static_cast<int>(threadIdx.x) / slice, per_pass)) {}

  [[nodiscard]] __device__ bool used() const { return row < per_pass; }
  [[nodiscard]] __device__ int first() const {
    return static_cast<int>(blockIdx.x) * per_pass + row;
  }
  [[nodiscard]] __device__ int stride() const { return static_cast<int>(gridDim.x) * per_pass; }
};

/// A lane over whole pixels.
__device__ Lane whole_lane(int channels) { return {channels, channels / kValues}; }

__device__ void load_channels(const float* from, int group, float (&to)[kValues]) {
#pragma unroll
  for (int i = 0; i < kValues; ++i) to[i] = from[group * kValues + i];
}

__device__ float2 plus(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }

/// Sums of `count` rows of `width` values, which all threads share; known to the first `width` of
/// them. `at(row, column)` is a value.
template <typename At>
__device__ float2 sum_rows(int count, int width, At at) {
  __shared__ float2 parts[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % width;
  const int part = thread / width;
  const int share = kThreads / width;
  float2 sum{};
  if (part < share) {
#pragma unroll 16
    for (int row = part; row < count; row += share) sum = plus(sum, at(row, column));
  }
  __syncthreads();  // parts may still be read from
  parts[thread] = sum;
  __syncthreads();
  if (thread >= width) return {};
  sum = parts[thread];
  for (int i = 1; i < share; ++i) sum = plus(sum, parts[i * width + column]);
  return sum;
}

/// Adds up two sums per channel over all threads of a block.
__device__ void leave_sums(const float (&first)[kValues], const float (&second)[kValues],
                           const Lane& slice, Scratch* scratch) {
  __shared__ float2 shared[kThreads * (kValues + 1)];
  const int width = slice.width * kValues;
  const int pitch = slice.width * (kValues + 1);  // lest rows meet in the same banks
  if (slice.used()) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      shared[slice.row * pitch + i * slice.width + slice.column] = {first[i], second[i]};
    }
  }
  __syncthreads();
  // Neighboring threads have neighboring packs: column i * width + g is value i of pack g.
  const float2 own = sum_rows(slice.per_pass, width,
                              [&](int row, int column) { return shared[row * pitch + column]; });
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < width) {
    const int channel = thread % slice.width * kValues + thread / slice.width;
    scratch->sums[blockIdx.y * gridDim.x + blockIdx.x][channel] = own;
  }
}

/// Adds up what the blocks of the kernel before have left. Calls `use(channel, first, second)` once
/// per channel, in every block.
template <typename Use>
__device__ void gather_sums(const Scratch* scratch, const Shares& shares, int channels, Use use) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int begin = 0; begin < channels; begin += kThreads) {
    const int width = min(channels - begin, kThreads);
    const float2 all = sum_rows(shares.count, width, [&](int row, int column) {
      const int channel = begin + column;
      const int slice = channel / shares.channels;
      return scratch->sums[slice * shares.count + row][channel % shares.channels];
    });
    if (thread < width) use(begin + thread, all.x, all.y);
  }
  __syncthreads();
}

__device__ __nv_bfloat16 sum_of(__nv_bfloat16 a, __nv_bfloat16 b, float shift) {
  return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b) + shift);
}

/// Sums of x and x², both about the first pixel's value lest they cancel.
template <bool kAdd>
__global__ void __launch_bounds__(kThreads)
    moments_kernel(int rows, int channels, int slice_groups, const __nv_bfloat16* a,
                   const __nv_bfloat16* b, __nv_bfloat16* sum, const __nv_bfloat16* moved,
                   Scratch* scratch) {
  wait_for_earlier_kernels();
  const Lane lane(channels, slice_groups);
  float shift[kValues] = {};
  float origin[kValues] = {};
  float first[kValues] = {};
  float second[kValues] = {};
  const auto value_at = [&](std::int64_t pack) {
    Pack x = load(a, pack);
    if constexpr (kAdd) {
      const Pack y = load(b, pack);
#pragma unroll
      for (int i = 0; i < kValues; ++i) x.values[i] = sum_of(x.values[i], y.values[i], shift[i]);
    }
    return x;
  };
  if (lane.used()) {
    if (kAdd && moved != nullptr) {
      const Pack shifts = load(moved, lane.group);
#pragma unroll
      for (int i = 0; i < kValues; ++i) shift[i] = __bfloat162float(shifts.values[i]);
    }
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
  let_next_kernel_start();
  leave_sums(first, second, lane, scratch);
}

/// What follows from the sums for a channel whose first value is `about`; one block keeps it.
__device__ float2 scale_and_shift(int c, float about, float2 sums, int rows, bool added, bool keeps,
                                  const NormParameters& parameters, const NormSaved& saved) {
  const float n = static_cast<float>(rows);
  const float offset = sums.x / n;
  const float mean = about + offset;
  const float variance = fmaxf(sums.y / n - offset * offset, 0.0F);
  const float inverse = rsqrtf(variance + parameters.epsilon);
  const float scale = parameters.weight[c] * inverse;
  const float shift = parameters.bias[c] - mean * scale;
  if (keeps) {
    saved.mean[c] = mean;
    saved.inverse_deviation[c] = inverse;
    saved.scale[c] = scale;
    saved.shift[c] = shift;
    const bool apart = !added && parameters.shift != nullptr;
    const float moved = apart ? __bfloat162float(parameters.shift[c]) : 0.0F;
    const float keep = 1 - parameters.momentum;
    parameters.running_mean[c] =
        keep * parameters.running_mean[c] + parameters.momentum * (mean + moved);
    parameters.running_variance[c] = keep * parameters.running_variance[c] +
                                     parameters.momentum * variance * (n / fmaxf(n - 1, 1.0F));
    if (c == 0) ++*parameters.batches;
  }
  return {scale, shift};
}

__device__ __nv_bfloat16 relu(float x) {
  return __float2bfloat16_rn(x > 0 || x != x ? x : 0.0F);  // NaN stays
}

/// `added`: x has the shift in it.
__global__ void __launch_bounds__(kThreads)
    apply_kernel(int rows, int channels, const __nv_bfloat16* x, bool added, Shares shares,
                 const Scratch* scratch, NormParameters parameters, NormSaved saved,
                 __nv_bfloat16* y) {
  __shared__ float2 both[kMaxChannels];
  wait_for_earlier_kernels();
  gather_sums(scratch, shares, channels, [&](int c, float s, float q) {
    both[c] = scale_and_shift(c, __bfloat162float(x[c]), {s, q}, rows, added, blockIdx.x == 0,
                              parameters, saved);
  });
  const Lane lane = whole_lane(channels);
  if (!lane.used()) return;
  float scale[kValues];
  float shift[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    scale[i] = both[lane.group * kValues + i].x;
    shift[i] = both[lane.group * kValues + i].y;
  }
  // From the end, which the pass before has just read.
#pragma unroll 4
  for (int row = rows - 1 - lane.first(); row >= 0; row -= lane.stride()) {
    const std::int64_t pack = std::int64_t{row} * lane.groups + lane.group;
    Pack value = load(x, pack);
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      value.values[i] = relu(__fmaf_rn(__bfloat162float(value.values[i]), scale[i], shift[i]));
    }
    store(value, y, pack);
  }
}

/// With the mean and the variance that are known.
template <bool kAdd>
__global__ void __launch_bounds__(kThreads)
    fixed_kernel(int rows, int channels, const __nv_bfloat16* a, const __nv_bfloat16* b,
                 __nv_bfloat16* sum, NormParameters parameters, __nv_bfloat16* y) {
  const Lane lane = whole_lane(channels);
  if (!lane.used()) return;
  float moved[kValues] = {};
  float scale[kValues];
  float shift[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    const int c = lane.group * kValues + i;
    if (parameters.shift != nullptr) moved[i] = __bfloat162float(parameters.shift[c]);
    scale[i] = parameters.weight[c] * rsqrtf(parameters.running_variance[c] + parameters.epsilon);
    const float mean = parameters.running_mean[c] - (kAdd ? 0.0F : moved[i]);
    shift[i] = parameters.bias[c] - mean * scale[i];
  }
#pragma unroll 4
  for (int row = lane.first(); row < rows; row += lane.stride()) {
    const std::int64_t pack = std::int64_t{row} * lane.groups + lane.group;
    Pack value = load(a, pack);
    if constexpr (kAdd) {
      const Pack rest = load(b, pack);
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        value.values[i] = sum_of(value.values[i], rest.values[i], moved[i]);
      }
      store(value, sum, pack);
    }
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      value.values[i] = relu(__fmaf_rn(__bfloat162float(value.values[i]), scale[i], shift[i]));
    }
    store(value, y, pack);
  }
}

/// Sums of g and g·(x - mean), where g is the gradient that gets through the ReLU.
__global__ void __launch_bounds__(kThreads)
    gradient_sums_kernel(int rows, int channels, int slice_groups, const __nv_bfloat16* x,
                         const __nv_bfloat16* dy, NormSaved saved, Scratch* scratch) {
  wait_for_earlier_kernels();
  const Lane lane(channels, slice_groups);
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
  let_next_kernel_start();
  leave_sums(first, second, lane, scratch);
}

/// dx = scale · (g - mean of g - normalized x · mean of (g · normalized x)), plus `dsum`.
template <bool kAdd>
__global__ void __launch_bounds__(kThreads)
    gradient_kernel(int rows, int channels, const __nv_bfloat16* x, const __nv_bfloat16* dy,
                    const __nv_bfloat16* dsum, Shares shares, const Scratch* scratch,
                    NormSaved saved, float* dweight, float* dbias, __nv_bfloat16* dx) {
  __shared__ float2 both[kMaxChannels];  // slope and rest: dx = scale · g + slope · x + rest
  wait_for_earlier_kernels();
  gather_sums(scratch, shares, channels, [&](int c, float s, float q) {
    const float n = static_cast<float>(rows);
    const float inverse = saved.inverse_deviation[c];
    const float slope = -saved.scale[c] * inverse * (q * inverse / n);
    both[c] = {slope, -saved.scale[c] * (s / n) - slope * saved.mean[c]};
    if (blockIdx.x == 0) {
      dbias[c] = s;
      dweight[c] = q * inverse;
    }
  });
  const Lane lane = whole_lane(channels);
  if (!lane.used()) return;
  float scale[kValues];
  float shift[kValues];
  float slope[kValues];
  float rest[kValues];
  load_channels(saved.scale, lane.group, scale);
  load_channels(saved.shift, lane.group, shift);
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    slope[i] = both[lane.group * kValues + i].x;
    rest[i] = both[lane.group * kValues + i].y;
  }
#pragma unroll 4
  for (int row = rows - 1 - lane.first(); row >= 0; row -= lane.stride()) {  // as apply_kernel
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

/// How blocks share the sums of all channels.
struct SumGrid {
  int slice_groups;
  dim3 blocks;  // shares of the pixels by slices

  explicit SumGrid(const NormShape& shape) {
    constexpr std::int64_t kRowsPerThread = 2;
    const int groups = shape.channels / kValues;
    slice_groups = std::min(groups, kSliceGroups);
    while (groups % slice_groups != 0) --slice_groups;
    const int slices = groups / slice_groups;
    const std::int64_t per_block = kRowsPerThread * (kThreads / slice_groups);
    const std::int64_t shares = std::clamp<std::int64_t>((shape.rows + per_block - 1) / per_block,
                                                         1, std::max(kBlocks / slices, 1));
    blocks = dim3(static_cast<unsigned>(shares), static_cast<unsigned>(slices));
  }
  [[nodiscard]] Shares shares() const {
    return {static_cast<int>(blocks.x), slice_groups * kValues};
  }
};

/// Enough to keep memory busy, and few that gather sums.
int plain_blocks_for(const NormShape& shape) {
  constexpr std::int64_t kRowsPerThread = 2;
  const std::int64_t per_block = kRowsPerThread * (kThreads / (shape.channels / kValues));
  return static_cast<int>(
      std::clamp<std::int64_t>((shape.rows + per_block - 1) / per_block, 1, 2 * kBlocks));
}

}  // namespace

std::size_t norm_scratch_bytes() { return sizeof(Scratch); }

void launch_norm_relu(const NormShape& shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                      __nv_bfloat16* sum, __nv_bfloat16* y, const NormParameters& parameters,
                      const NormSaved& saved, void* scratch, cudaStream_t stream) {
  const int rows = static_cast<int>(shape.rows);
  auto* sums = static_cast<Scratch*>(scratch);
  const SumGrid grid(shape);
  const auto moments = b == nullptr ? moments_kernel<false> : moments_kernel<true>;
  launch_early(moments, grid.blocks, kThreads, 0, stream, rows, shape.channels, grid.slice_groups,
               a, b, sum, parameters.shift, sums);
  launch_early(apply_kernel, plain_blocks_for(shape), kThreads, 0, stream, rows, shape.channels,
               b == nullptr ? a : sum, b != nullptr, grid.shares(), sums, parameters, saved, y);
}

void launch_fixed_norm_relu(const NormShape& shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                            __nv_bfloat16* sum, __nv_bfloat16* y, const NormParameters& parameters,
                            cudaStream_t stream) {
  const auto kernel = b == nullptr ? fixed_kernel<false> : fixed_kernel<true>;
  kernel<<<plain_blocks_for(shape), kThreads, 0, stream>>>(
      static_cast<int>(shape.rows), shape.channels, a, b, sum, parameters, y);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

void launch_norm_relu_backward(const NormShape& shape, const __nv_bfloat16* x,
                               const __nv_bfloat16* dy, const __nv_bfloat16* dsum,
                               const NormSaved& saved, float* dweight, float* dbias,
                               __nv_bfloat16* dx, void* scratch, cudaStream_t stream) {
  const int rows = static_cast<int>(shape.rows);
  const SumGrid grid(shape);
  auto* sums = static_cast<Scratch*>(scratch);
  launch_early(gradient_sums_kernel, grid.blocks, kThreads, 0, stream, rows, shape.channels,
               grid.slice_groups, x, dy, saved, sums);
  const auto gradient = dsum == nullptr ? gradient_kernel<false> : gradient_kernel<true>;
  launch_early(gradient, plain_blocks_for(shape), kThreads, 0, stream, rows, shape.channels, x, dy,
               dsum, grid.shares(), sums, saved, dweight, dbias, dx);
}

}  // namespace medley::nn
