#pragma once

#include <cstdint>

#include "kernels/cuda/params.h"
#include "kernels/cuda/tile.h"

namespace medley::cuda {

/// A grid mask as a block's threads read it: the grid's rows that the band needs, at each column of
/// the image, in shared memory. A weight is one value of it, or lies between two.
class GridWeights {
 public:
  __device__ GridWeights(const MixParams& p, const TileGrid& grid, const Tile& tile, float* shared)
      : width_(p.size.width), band_begin_(tile.band_begin), values_(shared) {
    taps_ = reinterpret_cast<Tap*>(shared + grid_values(p.size, grid));
  }

  /// By all threads of the block; they may read after a __syncthreads.
  __device__ void fill(const LoweredGrid& grid, const MixParams& p, std::int32_t band_rows,
                       std::int32_t thread, std::int32_t threads) const {
    const bool bilinear = grid.bilinear != 0;
    const std::int32_t height = p.size.height;
    const std::int32_t last_row = min(band_begin_ + band_rows, height) - 1;
    const std::int32_t first = grid_tap(bilinear, band_begin_, height, grid.rows).first;
    const std::int32_t last = grid_tap(bilinear, last_row, height, grid.rows).second;
    const float* values = p.fields + grid.values;
    for (std::int32_t x = thread; x < width_; x += threads) {
      const Tap column = grid_tap(bilinear, x, width_, grid.columns);
      for (std::int32_t row = first; row <= last; ++row) {
        values_[(row - first) * width_ + x] =
            grid_row_value(values + std::int64_t{row} * grid.columns, column);
      }
    }
    for (std::int32_t i = thread; i < band_rows; i += threads) {
      Tap tap = grid_tap(bilinear, min(band_begin_ + i, last_row), height, grid.rows);
      tap.first -= first;
      tap.second -= first;
      taps_[i] = tap;
    }
  }

  /// Weights of the pixels from (y, x) on that lie in the image.
  template <int kPixels, int kUnit>
  __device__ void load(std::int32_t y, std::int32_t x, float (&pixels)[kPixels]) const {
    const Tap row = taps_[y - band_begin_];
    load_row<kPixels, kUnit>(row.first, x, pixels);
    if (row.fraction == 0.0f) return;
    float next[kPixels];
    load_row<kPixels, kUnit>(row.second, x, next);
#pragma unroll
    for (int k = 0; k < kPixels; ++k) pixels[k] = interpolate(pixels[k], next[k], row.fraction);
  }

 private:
  template <int kPixels, int kUnit>
  __device__ void load_row(std::int32_t row, std::int32_t x, float (&pixels)[kPixels]) const {
    const float* from = values_ + row * width_;
    if constexpr (kUnit == 1) {
#pragma unroll
      for (int k = 0; k < kPixels; k += 4) {
        const float4 part = *reinterpret_cast<const float4*>(from + min(x, width_ - kPixels) + k);
        pixels[k] = part.x;
        pixels[k + 1] = part.y;
        pixels[k + 2] = part.z;
        pixels[k + 3] = part.w;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kPixels; ++k) pixels[k] = from[min(x + k, width_ - 1)];
    }
  }

  std::int32_t width_;
  std::int32_t band_begin_;
  float* values_;
  Tap* taps_;
};

}  // namespace medley::cuda
