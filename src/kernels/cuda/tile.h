#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/params.h"

namespace medley::cuda {

/// Division by a number that is known at launch; exact for numbers below 2^31.
struct FastDivisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  explicit FastDivisor(std::int64_t d) : divisor(static_cast<std::uint32_t>(d)) {
    while ((std::uint64_t{1} << shift) < divisor) ++shift;
    multiplier = static_cast<std::uint32_t>(
        ((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - divisor)) / divisor + 1);
  }
#if defined(__CUDACC__)
  [[nodiscard]] __device__ std::uint32_t divide(std::uint32_t n) const {
    return (__umulhi(n, multiplier) + n) >> shift;
  }
#endif
};

/// Ways of mixing, each with kernels of its own.
enum class Family : std::int32_t { boxes, gaussian, field, grid, terms, masked_terms, resampled };
inline constexpr std::int32_t kFamilies = 7;

MEDLEY_HOST_DEVICE inline Family family_of(const LoweredEntry& e) {
  if (e.term_count > 0) return e.masked != 0 ? Family::masked_terms : Family::terms;
  if (e.resample != Resample::none) return Family::resampled;
  if (e.kind == MaskKind::gaussian) return Family::gaussian;
  if (e.kind == MaskKind::grid) return Family::grid;
  return e.kind == MaskKind::field ? Family::field : Family::boxes;
}

/// What the entries of a plan need of the kernels.
struct PlanNeeds {
  bool families[kFamilies] = {};
  bool windows = false;            // a source that is shifted, mirrored or whose tiles move
  bool resampled_outside = false;  // a shrunk partner that also shows outside its box

  [[nodiscard]] bool has(Family family) const {
    return families[static_cast<std::int32_t>(family)];
  }
};

/// How outputs are cut into blocks. A block mixes a band of rows of one plane (interleaved images
/// have one, of all channels); each of its threads stays in one column of vectors, so what depends
/// on the column is computed once.
struct TileGrid {
  std::int32_t row_values;  // width * unit
  std::int32_t columns;     // vectors per row
  std::int32_t tile_columns;
  std::int32_t tile_rows;
  std::int32_t band_rows;
  FastDivisor column_tiles;
  FastDivisor bands;
  FastDivisor planes;
  std::int64_t blocks;
};

/// Threads of a block at most.
inline constexpr std::int32_t kTileThreads = 256;

/// Rows per thread: as many as pay for what a block does first, as few as keep the last blocks
/// short. Measured on an H200.
inline std::int32_t rows_per_thread(Family family, DType in) {
  const bool light = family == Family::boxes || family == Family::field || family == Family::grid;
  if (light) return size_of(in) == 2 ? 4 : 8;
  return 16;
}

/// Rows of a tile: `most`, or a little less if the height is a multiple of that.
inline std::int32_t rows_that_divide(std::int32_t height, std::int32_t most) {
  if (most <= 1) return 1;
  if (most >= height) return height;
  for (std::int32_t rows = most; 4 * rows > 3 * most; --rows) {
    if (height % rows == 0) return rows;
  }
  return most;
}

/// Cuts outputs into bands for a family, shorter ones where multiprocessors would lack work.
inline TileGrid tile_grid(const MixParams& p, std::int32_t vector_values, Family family) {
  constexpr std::int64_t kThreadsThatFill = std::int64_t{1} << 18;
  constexpr std::int32_t kFewThreads = 128;
  const std::int32_t unit = p.out_layout == Layout::nhwc ? p.channels : 1;
  const std::int32_t row_values = p.size.width * unit;
  const std::int32_t columns = row_values / vector_values;
  const std::int32_t planes = p.channels / unit;
  const std::int32_t column_tiles = (columns + kTileThreads - 1) / kTileThreads;
  const std::int32_t tile_columns = (columns + column_tiles - 1) / column_tiles;
  const std::int64_t vectors = p.batch * planes * p.size.height * columns;
  const bool few = vectors < kThreadsThatFill;
  const std::int32_t tile_rows =
      rows_that_divide(p.size.height, (few ? kFewThreads : kTileThreads) / tile_columns);
  const std::int32_t band = tile_rows * (few ? 1 : rows_per_thread(family, p.in_dtype));
  const std::int32_t bands = (p.size.height + band - 1) / band;
  return {row_values,
          columns,
          tile_columns,
          tile_rows,
          (p.size.height + bands - 1) / bands,
          FastDivisor(column_tiles),
          FastDivisor(bands),
          FastDivisor(planes),
          p.batch * planes * bands * column_tiles};
}

/// Rows per thread that are resampled together.
inline constexpr int kResampleAhead = 2;

/// Floats of shared memory for the taps of columns and of a band's rows.
MEDLEY_HOST_DEVICE inline std::int32_t resample_taps(ImageSize size, const TileGrid& grid) {
  return (2 * (size.width + grid.band_rows) + 3) / 4 * 4;
}

/// Rows of a block that are resampled together.
MEDLEY_HOST_DEVICE inline std::int32_t staged_rows(const TileGrid& grid) {
  return kResampleAhead * grid.tile_rows;
}

/// Bytes of shared memory that a block of a family needs.
inline std::size_t tile_bytes(Family family, ImageSize size, const TileGrid& grid) {
  std::int64_t floats = 0;
  // The taps of a band's rows.
  if (family == Family::grid) floats = 3 * std::int64_t{grid.band_rows};
  if (family == Family::gaussian) floats = std::int64_t{size.width} + grid.band_rows;
  if (family == Family::resampled) {
    floats = resample_taps(size, grid) + 2 * std::int64_t{staged_rows(grid)} * grid.row_values;
  }
  return static_cast<std::size_t>(floats) * sizeof(float);
}

#if defined(__CUDACC__)
/// Where a thread works: values [value, value + vector) of rows first_row, first_row + blockDim.y,
/// … below end_row of a plane. Threads beyond the edge have no rows.
struct Tile {
  std::int32_t sample;
  std::int32_t plane;
  std::int32_t column;
  std::int32_t value;
  std::int32_t first_row;
  std::int32_t end_row;
  std::int32_t band_begin;
};

__device__ inline Tile tile_of(const TileGrid& grid, ImageSize size, std::int32_t vector_values) {
  const std::uint32_t band_index = grid.column_tiles.divide(blockIdx.x);
  const std::uint32_t column_tile = blockIdx.x - band_index * grid.column_tiles.divisor;
  const std::uint32_t plane_index = grid.bands.divide(band_index);
  const std::uint32_t band = band_index - plane_index * grid.bands.divisor;
  Tile tile;
  tile.sample = static_cast<std::int32_t>(grid.planes.divide(plane_index));
  tile.plane = static_cast<std::int32_t>(plane_index - tile.sample * grid.planes.divisor);
  tile.column = static_cast<std::int32_t>(column_tile * grid.tile_columns + threadIdx.x);
  tile.value = tile.column * vector_values;
  tile.band_begin = static_cast<std::int32_t>(band) * grid.band_rows;
  tile.first_row = tile.band_begin + static_cast<std::int32_t>(threadIdx.y);
  const std::int32_t band_end = min(tile.band_begin + grid.band_rows, size.height);
  tile.end_row = tile.column < grid.columns ? band_end : 0;
  return tile;
}
#endif

}  // namespace medley::cuda
