#include "nn/kernels/conv3x3.h"

#include <algorithm>

#include "kernels/cuda/check.h"
#include "nn/kernels/early_launch.cuh"
#include "nn/kernels/matrix_unit.cuh"
#include "nn/kernels/sum_parts.cuh"

// Images are taken as one sequence of positions, with a pixel of zeros after every row and a row of
// zeros after every image. The neighbors of a position are always the same way off then, beyond
// the edges of images too, so a matrix of pixels and its eight neighbors are the same rows in
// shared memory, shifted. Blocks divide the sequence among them; a block has all of its positions
// in shared memory at once.

namespace medley::nn {
namespace {

constexpr int kSide = 3;
constexpr int kTaps = kSide * kSide;
constexpr int kChannels = kRowValues;
constexpr int kChunks = kRowBytes / 16;
constexpr int kDepth = 16;    // of one multiplication
constexpr int kTile = 64;     // positions
constexpr int kRounds = 14;   // of a block, at most
constexpr int kBlocks = 132;  // fill an H200 once
constexpr int kGroupThreads = 128;

constexpr int kBarrierBytes = kRounds * static_cast<int>(sizeof(CopyBarrier));

using Value = __nv_bfloat16;

/// A divisor and what makes divisions by it fast.
struct Divisor {
  std::uint32_t by;
  std::uint32_t factor;

  explicit Divisor(std::uint32_t divisor)
      : by(divisor), factor(static_cast<std::uint32_t>((1ull << 32) / divisor + 1)) {}
  [[nodiscard]] __device__ std::uint32_t quotient(std::uint32_t n) const {
    return __umulhi(n, factor);
  }
};

/// The sequence.
struct Positions {
  int width;
  int height;
  Divisor pitch;  // positions of a row
  Divisor rows;   // of an image
  int count;

  explicit Positions(const ConvShape& shape)
      : width(shape.width),
        height(shape.height),
        pitch(static_cast<std::uint32_t>(shape.width + 1)),
        rows(static_cast<std::uint32_t>(shape.height + 1)),
        count(static_cast<int>(shape.images * rows.by * pitch.by)) {}

  /// How far off the farthest neighbor is.
  [[nodiscard]] __host__ __device__ int reach() const { return width + 2; }

  /// Number of the pixel at a position; -1 where there are zeros.
  [[nodiscard]] __device__ int pixel(int position) const {
    if (position < 0 || position >= count) return -1;
    const auto at = static_cast<std::uint32_t>(position);
    const std::uint32_t row = pitch.quotient(at);
    const auto column = static_cast<int>(at - row * pitch.by);
    const std::uint32_t image = rows.quotient(row);
    const auto in_image = static_cast<int>(row - image * rows.by);
    if (column == width || in_image == height) return -1;
    return static_cast<int>(row - image) * width + column;
  }
};

/// What a block does at a time, and has in shared memory.
struct Work {
  int positions;  // of a round
  int ahead;      // rounds that are asked for before they are needed
  int fixed;      // bytes
  int pieces;     // rows of shared memory that a position has; one of them has neighbors, too
};

/// How positions are divided: as many to a block as shared memory has room for, but not more than
/// it takes to occupy the device.
struct Division {
  int rounds;  // of a block
  int blocks;
  int bytes;  // of shared memory

  Division(const Positions& positions, const Work& work, int shared_bytes) {
    const int fixed = kMatrixAlignment + work.fixed + 2 * positions.reach() * kRowBytes;
    const int round_bytes = work.positions * work.pieces * kRowBytes;
    const auto shares = [&](int n) {
      return static_cast<int>((std::int64_t{positions.count} + n - 1) / n);
    };
    rounds = std::min({(shared_bytes - kBarrierBytes - fixed) / round_bytes, kRounds,
                       shares(work.positions * kBlocks)});
    blocks = rounds > 0 ? shares(work.positions * rounds) : 0;
    bytes = fixed + rounds * round_bytes;
  }
};

/// Copies the pixels of positions [first + from, first + to) to rows [from, to) in shared memory.
__device__ void ask_for(std::uint32_t memory, const Value* images, const Positions& positions,
                        int first, int from, int to) {
  for (int i = from * kChunks + static_cast<int>(threadIdx.x); i < to * kChunks;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    const int pixel = positions.pixel(first + row);
    copy_async(memory + place(row, chunk),
               images + std::int64_t{max(pixel, 0)} * kChannels + chunk * 8, pixel >= 0);
  }
}

__device__ void start_barriers(CopyBarrier (&arrived)[kRounds]) {
  if (threadIdx.x == 0) {
    for (CopyBarrier& barrier : arrived) start_barrier(barrier, static_cast<int>(blockDim.x));
  }
  __syncthreads();
}

/// Start of shared memory where matrices can be.
__device__ std::uint32_t aligned_memory(const unsigned char* memory) {
  return (shared_address(memory) + kMatrixAlignment - 1) / kMatrixAlignment * kMatrixAlignment;
}

/// The same for all threads of a warp, as the compiler then knows.
__device__ int group_of_thread() {
  return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / kGroupThreads, 0);
}

constexpr int kConvThreads = 2 * kGroupThreads;
constexpr int kWeightBytes = kTaps * kChannels * kRowBytes;
constexpr Work kConv = {2 * kTile, 3, kWeightBytes + 2 * kTile* kRowBytes, 1};

/// Sums of a tile to the output, by way of shared memory, so that stores are of whole pixels.
__device__ void store_tile(const Sums& sums, unsigned char* memory, const Positions& positions,
                           int first, Value* y) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) % kGroupThreads / 32;
  unsigned char* const own = memory + warp * 16 * kRowBytes;
#pragma unroll
  for (int n = 0; n < kChannels / 8; ++n) {
#pragma unroll
    for (int low = 0; low < 2; ++low) {
      *reinterpret_cast<__nv_bfloat162*>(own + place(low * 8 + lane / 4, n) + lane % 4 * 4) =
          __floats2bfloat162_rn(sums[4 * n + 2 * low], sums[4 * n + 2 * low + 1]);
    }
  }
  __syncwarp();
#pragma unroll
  for (int i = lane; i < 16 * kChunks; i += 32) {
    const int pixel = positions.pixel(first + warp * 16 + i / kChunks);
    if (pixel >= 0) {
      *reinterpret_cast<uint4*>(y + std::int64_t{pixel} * kChannels + i % kChunks * 8) =
          *reinterpret_cast<const uint4*>(own + place(i / kChunks, i % kChunks));
    }
  }
  __syncwarp();
}

/// y = conv(x), or with kGradient the gradient of x from that of y: the same sums with the weights
/// turned round, and their channels swapped.
template <bool kGradient>
__global__ void __launch_bounds__(kConvThreads)
    conv_kernel(Positions positions, int rounds, const Value* x, const Value* weight, Value* y) {
  extern __shared__ unsigned char memory[];
  __shared__ CopyBarrier arrived[kRounds];
  const std::uint32_t weights = aligned_memory(memory);
  const std::uint32_t results = weights + kWeightBytes;
  const std::uint32_t pixels = weights + kConv.fixed;
  const int reach = positions.reach();
  const int first = static_cast<int>(blockIdx.x) * rounds * kConv.positions;

  start_barriers(arrived);
  wait_for_earlier_kernels();
  for (int i = static_cast<int>(threadIdx.x); i < kTaps * kChannels * kChunks; i += kConvThreads) {
    const int chunk = i % kChunks;
    const int tap = i / kChunks % kTaps;
    const int out = i / (kChunks * kTaps);
    copy_async(weights + place(tap * kChannels + out, chunk), weight + std::int64_t{i} * 8, true);
  }
  const auto ask_for_round = [&](int round) {
    const int end = (round + 1) * kConv.positions + 2 * reach;
    ask_for(pixels, x, positions, first - reach, round == 0 ? 0 : end - kConv.positions, end);
    end_copies(arrived[round]);
  };
  for (int round = 0; round < min(kConv.ahead, rounds); ++round) ask_for_round(round);

  const int group = group_of_thread();
  unsigned char* const result =
      memory + (results - shared_address(memory)) + group * kTile * kRowBytes;
  const std::uint64_t by = matrix_at(weights);
  // One group multiplies while the other one stores.
  if (group == 1) give_turn(1);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int tile = 2 * round + group;
    const std::uint64_t from = matrix_at(pixels + (tile * kTile + reach) * kRowBytes);
    Sums sums = {};
    wait_for_copies(arrived[round]);
    wait_for_turn(1 + group);
    begin_multiplying();
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      const int shift = (tap / kSide - 1) * static_cast<int>(positions.pitch.by) + tap % kSide - 1;
      const std::uint64_t a = from + shift * static_cast<std::int64_t>(kRowStep);
      const std::uint64_t b = by + (kGradient ? kTaps - 1 - tap : tap) * kChannels * kRowStep;
#pragma unroll
      for (int k = 0; k < kChannels; k += kDepth) {
        const std::uint64_t along = k / 8 * kChunkStep;
        multiply_add<false, kGradient>(sums, a + along, b + (kGradient ? k * kRowStep : along));
      }
    }
    end_multiplying();
    if (group == 0 || round + 1 < rounds) give_turn(2 - group);
    if (round + kConv.ahead < rounds) ask_for_round(round + kConv.ahead);
    if (round + 1 == rounds) let_next_kernel_start();
    wait_for_products<0>();
    store_tile(sums, result, positions, first + tile * kTile, y);
  }
}

constexpr int kGradientThreads = kSide * kGroupThreads;
constexpr int kColumns = kTaps * kChannels;
constexpr int kQuads = kChannels / 8;  // of the sums of a thread
constexpr Work kWeightGradient = {kTile, 6, 0, 2};

/// What the pixels of a block add to the gradient of the weights, a matrix of 64 rows. A warp group
/// does one row of taps.
__global__ void __launch_bounds__(kGradientThreads)
    weight_gradient_kernel(Positions positions, int rounds, const Value* x, const Value* dy,
                           float4* parts) {
  extern __shared__ unsigned char memory[];
  __shared__ CopyBarrier arrived[kRounds];
  const std::uint32_t gradients = aligned_memory(memory);
  const std::uint32_t pixels = gradients + rounds * kTile * kRowBytes;
  const int reach = positions.reach();
  const int first = static_cast<int>(blockIdx.x) * rounds * kTile;
  start_barriers(arrived);
  const auto ask_for_round = [&](int round) {
    const int begin = round * kTile;
    const int end = begin + kTile;
    ask_for(gradients, dy, positions, first, begin, end);
    ask_for(pixels, x, positions, first - reach, round == 0 ? 0 : begin + 2 * reach,
            end + 2 * reach);
    end_copies(arrived[round]);
  };
  for (int round = 0; round < min(kWeightGradient.ahead, rounds); ++round) ask_for_round(round);

  const int group = group_of_thread();
  const std::uint64_t turned = matrix_at(gradients);
  const std::uint64_t from = matrix_at(
      pixels + (reach + (group - 1) * static_cast<int>(positions.pitch.by) - 1) * kRowBytes);
  Sums sums[kSide] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    wait_for_copies(arrived[round]);
    begin_multiplying();
#pragma unroll
    for (int depth = 0; depth < kTile; depth += kDepth) {
      const int k = round * kTile + depth;
#pragma unroll
      for (int tap = 0; tap < kSide; ++tap) {
        multiply_add<true, true>(sums[tap], turned + k * kRowStep, from + (k + tap) * kRowStep);
      }
    }
    end_multiplying();
    if (round + kWeightGradient.ahead < rounds) ask_for_round(round + kWeightGradient.ahead);
  }
  wait_for_products<0>();

  float4* const own = parts + std::int64_t{blockIdx.x} * kSide * kQuads * kGradientThreads;
#pragma unroll
  for (int tap = 0; tap < kSide; ++tap) {
#pragma unroll
    for (int n = 0; n < kQuads; ++n) {
      own[(tap * kQuads + n) * kGradientThreads + threadIdx.x] = {
          sums[tap][4 * n], sums[tap][4 * n + 1], sums[tap][4 * n + 2], sums[tap][4 * n + 3]};
    }
  }
}

/// Which weight is number i of what a block leaves, in the order of its threads.
struct WeightPlace {
  __device__ int operator()(int i) const {
    const int thread = i / 4 % kGradientThreads;
    const int n = i / (4 * kGradientThreads) % kQuads;
    const int tap = thread / kGroupThreads * kSide + i / (4 * kGradientThreads * kQuads);
    const int lane = thread % 32;
    const int out = thread % kGroupThreads / 32 * 16 + i % 4 / 2 * 8 + lane / 4;
    return out * kColumns + tap * kChannels + n * 8 + lane % 4 * 2 + i % 2;
  }
};

/// Shared memory that a block may have on the current device if that has these matrix units; else
/// 0.
int shared_bytes() {
  int device = 0;
  int major = 0;
  int bytes = 0;
  MEDLEY_CUDA_CHECK(cudaGetDevice(&device));
  MEDLEY_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  MEDLEY_CUDA_CHECK(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return major == 9 ? bytes : 0;
}

/// More shared memory than kernels have without asking.
template <typename Kernel>
void allow_shared(Kernel* kernel, int bytes) {
  MEDLEY_CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

template <bool kGradient>
void launch(const ConvShape& shape, const Value* from, const Value* weight, Value* to,
            cudaStream_t stream) {
  const Positions positions(shape);
  const Division division(positions, kConv, shared_bytes());
  const auto kernel = conv_kernel<kGradient>;
  allow_shared(kernel, division.bytes);
  launch_early(kernel, division.blocks, kConvThreads, division.bytes, stream, positions,
               division.rounds, from, weight, to);
}

}  // namespace

bool conv3x3_fits(const ConvShape& shape) {
  constexpr std::int64_t kMostPositions = 1 << 24;
  if (shape.channels != kChannels || shape.images <= 0 || shape.height <= 0 || shape.width <= 0 ||
      shape.height > 255 || shape.width > 255) {
    return false;
  }
  if (shape.images * (shape.height + 1) * (shape.width + 1) > kMostPositions) return false;
  const Positions positions(shape);
  const int bytes = shared_bytes();
  return Division(positions, kConv, bytes).rounds > 0 &&
         Division(positions, kWeightGradient, bytes).rounds > 0;
}

void launch_conv3x3(const ConvShape& shape, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                    __nv_bfloat16* y, cudaStream_t stream) {
  launch<false>(shape, x, weight, y, stream);
}

void launch_conv3x3_input_gradient(const ConvShape& shape, const __nv_bfloat16* dy,
                                   const __nv_bfloat16* weight, __nv_bfloat16* dx,
                                   cudaStream_t stream) {
  launch<true>(shape, dy, weight, dx, stream);
}

std::size_t conv3x3_scratch_bytes(const ConvShape& shape) {
  const Division division(Positions(shape), kWeightGradient, shared_bytes());
  return static_cast<std::size_t>(division.blocks) * kChannels * kColumns * sizeof(float);
}

void launch_conv3x3_weight_gradient(const ConvShape& shape, const __nv_bfloat16* x,
                                    const __nv_bfloat16* dy, __nv_bfloat16* dweight, void* scratch,
                                    cudaStream_t stream) {
  const Positions positions(shape);
  const Division division(positions, kWeightGradient, shared_bytes());
  allow_shared(weight_gradient_kernel, division.bytes);
  weight_gradient_kernel<<<division.blocks, kGradientThreads, division.bytes, stream>>>(
      positions, division.rounds, x, dy, static_cast<float4*>(scratch));
  MEDLEY_CUDA_CHECK(cudaGetLastError());
  launch_sum_parts(kChannels * kColumns, division.blocks, static_cast<const float*>(scratch),
                   dweight, WeightPlace(), stream);
}

}  // namespace medley::nn
