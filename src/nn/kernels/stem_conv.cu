#include "nn/kernels/stem_conv.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/cuda/check.h"
#include "nn/kernels/early_launch.cuh"
#include "nn/kernels/sum_parts.cuh"
#include "nn/kernels/warp_matrix.cuh"

// A picture has so few channels that the matrix units take a whole row of taps at once: pixels have
// four channels in shared memory, and the four pixels from the left neighbor on are 16 values, of
// which the weights of the last pixel and of missing channels are zeros.
//
// Rows of matrices have to start at a multiple of 16 bytes, which is every other pixel. So there
// are two copies of the pictures, one of them a pixel further on.

namespace medley::nn {
namespace {

using Value = __nv_bfloat16;

constexpr int kSide = 3;
constexpr int kTaps = kSide * kSide;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kTile = 16;             // positions of one multiplication
constexpr int kStripPositions = 256;  // at most, but a row at least
constexpr int kMostBlocks = 2 * 132;  // fill an H200 once
constexpr int kPixelValues = 4;       // in shared memory
constexpr int kPixelBytes = 8;
constexpr int kColumns = 16;       // of a matrix: a row of taps
constexpr int kMostPixels = 1032;  // of a strip: 258 rows of 4
constexpr int kMaxWidth = 255;
constexpr int kMaxChannels = kPixelValues;

/// Bytes between the copies: eight rows of a matrix, from both in turn, are in different banks.
constexpr int kCopyBytes = (kMostPixels + 2) * kPixelBytes / 128 * 128 + 128 + 48;
constexpr int kPixelsBytes = (2 * kCopyBytes + 127) / 128 * 128;

/// What blocks take at a time: some whole rows of a picture.
struct Strips {
  int height;
  int width;
  int channels;
  int rows;   // of a strip
  int pitch;  // pixels of a row in shared memory: a column before, two after, and an even number
  int of_picture;
  std::int64_t count;

  explicit Strips(const StemShape& shape)
      : height(shape.height),
        width(shape.width),
        channels(shape.channels),
        rows(std::min(std::max(kStripPositions / shape.width, 1), shape.height)),
        pitch((shape.width + 4) / 2 * 2),
        of_picture((shape.height + rows - 1) / rows),
        count(shape.images * of_picture) {}

  /// Blocks that take as many strips each.
  [[nodiscard]] int blocks() const {
    const std::int64_t each = (count + kMostBlocks - 1) / kMostBlocks;
    return static_cast<int>((count + each - 1) / each);
  }
};

/// One of them.
struct Strip {
  std::int64_t image;
  int first_row;
  int positions;
  std::int64_t first_pixel;

  __device__ Strip(const Strips& strips, std::int64_t number)
      : image(number / strips.of_picture),
        first_row(static_cast<int>(number % strips.of_picture) * strips.rows),
        positions(min(strips.rows, strips.height - first_row) * strips.width),
        first_pixel((image * strips.height + first_row) * strips.width) {}
};

/// Both copies of the pixels around a strip.
__device__ void fill_pixels(unsigned char* pixels, const Strips& strips, const Strip& strip,
                            const Value* x) {
  for (int i = static_cast<int>(threadIdx.x); i < (strips.rows + 2) * strips.pitch; i += kThreads) {
    const int row = strip.first_row + i / strips.pitch - 1;
    const int column = i % strips.pitch - 1;
    alignas(kPixelBytes) Value values[kPixelValues] = {};
    if (row >= 0 && row < strips.height && column >= 0 && column < strips.width) {
      const std::int64_t pixel = (strip.image * strips.height + row) * strips.width + column;
#pragma unroll
      for (int c = 0; c < kPixelValues; ++c) {
        if (c < strips.channels) values[c] = x[pixel * strips.channels + c];
      }
    }
    uint2 words;
    std::memcpy(&words, values, sizeof words);
    *reinterpret_cast<uint2*>(pixels + i * kPixelBytes) = words;
    *reinterpret_cast<uint2*>(pixels + kCopyBytes + (i + 1) * kPixelBytes) = words;
  }
}

/// Where the first row of taps of a position is, its left or its right half.
__device__ std::uint32_t taps_at(std::uint32_t pixels, const Strips& strips, int position,
                                 int half) {
  const int column = position % strips.width;
  const int pixel = position / strips.width * strips.pitch + column;
  const int copy = column % 2;
  return pixels +
         static_cast<std::uint32_t>(copy * kCopyBytes + (pixel + copy) * kPixelBytes + half * 16);
}

/// Weight of a tap, a column of the matrices counted within its row; zero for those that fill up.
__device__ Value weight_at(const Value* weight, int channels, int out, int tap_row, int column) {
  const int tap = column / kPixelValues;
  const int channel = column % kPixelValues;
  if (tap >= kSide || channel >= channels) return Value{};
  return weight[(out * kTaps + tap_row * kSide + tap) * channels + channel];
}

/// Tiles of eight output channels are interleaved such that a lane has neighbors, which it stores
/// at once: 16 bytes, or 8 if there are few.
template <int kTiles>
struct OutputOrder {
  static constexpr int kGroup = kTiles < 4 ? kTiles : 4;
  static_assert(kTiles % kGroup == 0);
  __device__ static int channel(int tile, int column) {
    return tile / kGroup * kGroup * 8 + column / 2 * kGroup * 2 + tile % kGroup * 2 + column % 2;
  }
};

/// The 2 * kGroup values of a lane for one position.
template <int kGroup>
__device__ void store_values(const float (&values)[2 * kGroup], Value* to) {
  alignas(16) __nv_bfloat162 pairs[kGroup];
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    pairs[i] = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
  }
  if constexpr (kGroup == 4) {
    uint4 words;
    std::memcpy(&words, pairs, sizeof words);
    *reinterpret_cast<uint4*>(to) = words;
  } else {
    uint2 words;
    std::memcpy(&words, pairs, sizeof words);
    *reinterpret_cast<uint2*>(to) = words;
  }
}

template <int kTiles>
__global__ void __launch_bounds__(kThreads, 2)
    stem_kernel(Strips strips, const Value* x, const Value* weight, Value* y) {
  using Order = OutputOrder<kTiles>;
  constexpr int kOut = kTiles * 8;
  constexpr int kWords = kSide * kTiles * 2;  // of a lane
  static_assert(kWords % 4 == 0);
  __shared__ __align__(128) unsigned char pixels[kPixelsBytes];
  __shared__ uint4 words[kWords / 4][32];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  wait_for_earlier_kernels();

  // Weights, as lanes want them: pairs for rows lane%4*2 (+8) of a matrix and column lane/4.
  for (int i = thread; i < kWords * 32; i += kThreads) {
    const int word = i / 128 * 4 + i % 4;
    const int of_lane = i / 4 % 32;
    const int out = Order::channel(word / 2 % kTiles, of_lane / 4);
    const int column = of_lane % 4 * 2 + word % 2 * 8;
    const int tap_row = word / (2 * kTiles);
    const Value pair[2] = {weight_at(weight, strips.channels, out, tap_row, column),
                           weight_at(weight, strips.channels, out, tap_row, column + 1)};
    std::memcpy(reinterpret_cast<std::uint32_t*>(words) + i, pair, sizeof pair);
  }
  __syncthreads();
  std::uint32_t by[kWords];
#pragma unroll
  for (int i = 0; i < kWords / 4; ++i) {
    const uint4 four = words[i][lane];
    by[4 * i] = four.x;
    by[4 * i + 1] = four.y;
    by[4 * i + 2] = four.z;
    by[4 * i + 3] = four.w;
  }

  const std::uint32_t address = shared_address(pixels);
  for (std::int64_t number = blockIdx.x; number < strips.count; number += gridDim.x) {
    const Strip strip(strips, number);
    __syncthreads();
    fill_pixels(pixels, strips, strip, x);
    __syncthreads();
    if (number + gridDim.x >= strips.count) let_next_kernel_start();
    for (int first = warp * kTile; first < strip.positions; first += kWarps * kTile) {
      const int own = min(first + lane % kTile, strip.positions - 1);
      const std::uint32_t taps = taps_at(address, strips, own, lane / kTile);
      WarpSums sums[kTiles] = {};
#pragma unroll
      for (int row = 0; row < kSide; ++row) {
        std::uint32_t from[4];
        load_matrices<false>(from,
                             taps + static_cast<std::uint32_t>(row * strips.pitch * kPixelBytes));
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          const int word = (row * kTiles + tile) * 2;
          multiply_add(sums[tile], from, by[word], by[word + 1]);
        }
      }
#pragma unroll
      for (int low = 0; low < 2; ++low) {
        const int position = first + low * 8 + lane / 4;
        if (position >= strip.positions) continue;
        Value* const to = y + (strip.first_pixel + position) * kOut;
#pragma unroll
        for (int group = 0; group < kTiles; group += Order::kGroup) {
          float values[2 * Order::kGroup];
#pragma unroll
          for (int i = 0; i < Order::kGroup; ++i) {
            values[2 * i] = sums[group + i][2 * low];
            values[2 * i + 1] = sums[group + i][2 * low + 1];
          }
          store_values<Order::kGroup>(values, to + Order::channel(group, lane % 4 * 2));
        }
      }
    }
  }
}

/// Of the gradients of a strip in shared memory: where 16 bytes of a row are.
template <int kOut>
__device__ std::uint32_t gradient_place(int row, int chunk) {
  constexpr int kChunks = kOut / 8;
  constexpr int kRowsPerLine = 8 / kChunks;  // 128 bytes, all banks
  return static_cast<std::uint32_t>((row * kChunks + (chunk ^ row / kRowsPerLine % kChunks)) * 16);
}

/// Copies the gradients of a strip, and zeros up to the end of a tile.
template <int kOut>
__device__ void ask_for_gradients(std::uint32_t memory, const Strip& strip, const Value* dy) {
  constexpr int kChunks = kOut / 8;
  const int rows = (strip.positions + kTile - 1) / kTile * kTile;
  for (int i = static_cast<int>(threadIdx.x); i < rows * kChunks; i += kThreads) {
    const int row = i / kChunks;
    const bool there = row < strip.positions;
    copy_async(memory + gradient_place<kOut>(row, i % kChunks),
               dy + (there ? (strip.first_pixel * kChunks + i) * 8 : 0), there);
  }
  end_copy_group();
}

constexpr int kAhead = 2;  // strips in shared memory

/// Shared memory for the gradients of a strip.
__host__ __device__ int gradient_bytes(const Strips& strips, int out) {
  return (strips.rows * strips.width + kTile - 1) / kTile * kTile * out * 2;
}

/// What the strips of a block add to the gradient of the weights. Warps share output channels and
/// positions.
template <int kTiles>
__global__ void __launch_bounds__(kThreads, 2)
    stem_gradient_kernel(Strips strips, const Value* x, const Value* dy, float* parts) {
  constexpr int kOut = kTiles * 8;
  constexpr int kOwnTiles = kTiles < 4 ? kTiles : 4;
  constexpr int kOutShares = kTiles / kOwnTiles;
  constexpr int kPositionShares = kWarps / kOutShares;
  extern __shared__ __align__(128) unsigned char memory[];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int first_tile = thread / 32 % kOutShares * kOwnTiles;
  const int share = thread / 32 / kOutShares;
  const int strip_bytes = gradient_bytes(strips, kOut);
  const auto pixels_of = [&](int slot) { return memory + slot * (kPixelsBytes + strip_bytes); };
  const auto ask_for = [&](std::int64_t number, int slot) {
    if (number < strips.count) {
      const Strip strip(strips, number);
      ask_for_gradients<kOut>(shared_address(pixels_of(slot) + kPixelsBytes), strip, dy);
      fill_pixels(pixels_of(slot), strips, strip, x);
    } else {
      end_copy_group();
    }
  };

  WarpSums sums[kSide][kOwnTiles] = {};
  for (int slot = 0; slot < kAhead; ++slot) {
    ask_for(blockIdx.x + std::int64_t{slot} * gridDim.x, slot);
  }
  int slot = 0;
  for (std::int64_t number = blockIdx.x; number < strips.count; number += gridDim.x) {
    const Strip strip(strips, number);
    const std::uint32_t pixels = shared_address(pixels_of(slot));
    const std::uint32_t gradients = pixels + kPixelsBytes;
    wait_for_copy_groups<kAhead - 1>();
    __syncthreads();
    for (int first = share * kTile; first < strip.positions; first += kPositionShares * kTile) {
      const int own = min(first + lane % 8 + lane / 16 * 8, strip.positions - 1);
      const std::uint32_t taps = taps_at(pixels, strips, own, lane / 8 % 2);
      std::uint32_t by[kOwnTiles][2];
#pragma unroll
      for (int tile = 0; tile < kOwnTiles; tile += 2) {
        std::uint32_t four[4];
        load_matrices<true>(four, gradients + gradient_place<kOut>(first + lane % 16,
                                                                   first_tile + tile + lane / 16));
        by[tile][0] = four[0];
        by[tile][1] = four[1];
        by[tile + 1][0] = four[2];
        by[tile + 1][1] = four[3];
      }
#pragma unroll
      for (int row = 0; row < kSide; ++row) {
        std::uint32_t from[4];
        load_matrices<true>(from,
                            taps + static_cast<std::uint32_t>(row * strips.pitch * kPixelBytes));
#pragma unroll
        for (int tile = 0; tile < kOwnTiles; ++tile) {
          multiply_add(sums[row][tile], from, by[tile][0], by[tile][1]);
        }
      }
    }
    __syncthreads();
    ask_for(number + std::int64_t{kAhead} * gridDim.x, slot);
    slot = (slot + 1) % kAhead;
  }
  wait_for_copy_groups<0>();
  __syncthreads();

  // Warps add their sums one after the other, so that the order is always the same.
  auto* const total = reinterpret_cast<float*>(memory);  // [row of taps][column][out]
  for (int turn = 0; turn < kPositionShares; ++turn) {
    if (share == turn) {
#pragma unroll
      for (int row = 0; row < kSide; ++row) {
#pragma unroll
        for (int tile = 0; tile < kOwnTiles; ++tile) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int column = lane / 4 + i / 2 * 8;
            const int out = (first_tile + tile) * 8 + lane % 4 * 2 + i % 2;
            float& to = total[(row * kColumns + column) * kOut + out];
            to = turn == 0 ? sums[row][tile][i] : to + sums[row][tile][i];
          }
        }
      }
    }
    __syncthreads();
  }
  const int weights = kOut * kTaps * strips.channels;
  for (int i = thread; i < weights; i += kThreads) {
    const int channel = i % strips.channels;
    const int tap = i / strips.channels % kTaps;
    const int out = i / (strips.channels * kTaps);
    const int column = tap % kSide * kPixelValues + channel;
    parts[std::int64_t{blockIdx.x} * weights + i] =
        total[(tap / kSide * kColumns + column) * kOut + out];
  }
}

constexpr int kMostOut = 64;
constexpr int kTotalBytes = kSide * kColumns * kMostOut * static_cast<int>(sizeof(float));
static_assert(kTotalBytes <= kAhead * kPixelsBytes);

/// Where the blocks of the gradient leave a weight is where it belongs.
struct InOrder {
  __device__ int operator()(int i) const { return i; }
};

/// Calls `use` with the number of tiles as a constant.
template <typename Use>
void with_tiles(int out, Use use) {
  switch (out) {
    case 16:
      return use(std::integral_constant<int, 2>());
    case 32:
      return use(std::integral_constant<int, 4>());
    default:
      return use(std::integral_constant<int, 8>());
  }
}

}  // namespace

bool stem_conv_fits(const StemShape& shape) {
  if (shape.images <= 0 || shape.height <= 0 || shape.width <= 0 || shape.width > kMaxWidth ||
      shape.channels <= 0 || shape.channels > kMaxChannels ||
      (shape.out != 16 && shape.out != 32 && shape.out != kMostOut)) {
    return false;
  }
  int device = 0;
  int major = 0;
  MEDLEY_CUDA_CHECK(cudaGetDevice(&device));
  MEDLEY_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 8;
}

void launch_stem_conv(const StemShape& shape, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                      __nv_bfloat16* y, cudaStream_t stream) {
  const Strips strips(shape);
  with_tiles(shape.out, [&](auto tiles) {
    launch_early(stem_kernel<tiles()>, strips.blocks(), kThreads, 0, stream, strips, x, weight, y);
  });
}

std::size_t stem_scratch_bytes(const StemShape& shape) {
  const int weights = shape.out * kTaps * shape.channels;
  return static_cast<std::size_t>(Strips(shape).blocks()) * weights * sizeof(float);
}

void launch_stem_weight_gradient(const StemShape& shape, const __nv_bfloat16* x,
                                 const __nv_bfloat16* dy, __nv_bfloat16* dweight, void* scratch,
                                 cudaStream_t stream) {
  auto* const parts = static_cast<float*>(scratch);
  const Strips strips(shape);
  const int blocks = strips.blocks();
  with_tiles(shape.out, [&](auto tiles) {
    const auto kernel = stem_gradient_kernel<tiles()>;
    const int bytes = kAhead * (kPixelsBytes + gradient_bytes(strips, shape.out));
    MEDLEY_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<blocks, kThreads, bytes, stream>>>(strips, x, dy, parts);
    MEDLEY_CUDA_CHECK(cudaGetLastError());
  });
  launch_sum_parts(shape.out * kTaps * shape.channels, blocks, parts, dweight, InOrder(), stream);
}

}  // namespace medley::nn
