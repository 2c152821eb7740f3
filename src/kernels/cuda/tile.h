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
  std::int32_t terms = 0;          // of an output at most
  bool windows = false;            // a source that is shifted, mirrored or whose tiles move
  bool resampled_outside = false;  // a shrunk partner that also shows outside its box
  bool large_weights = false;      // of a flat mask or box: negative, or beyond 2^100

  [[nodiscard]] bool has(Family family) const {
    return families[static_cast<std::int32_t>(family)];
  }
};

/// How outputs are cut into blocks. A block mixes a band of rows of one plane (interleaved images
/// have one, of all channels); each of its threads stays in one column of vectors, so what depends
/// on the column is computed once. Blocks follow one another from image to image and then from band
/// to band: the same band of all images is a few megabytes, so that a partner's second read comes
/// from the L2 cache, whatever the pairing.
struct TileGrid {
  std::int32_t row_values;  // width * unit
  std::int32_t columns;     // vectors per row
  std::int32_t tile_columns;
  std::int32_t tile_rows;
  std::int32_t band_rows;
  std::int32_t grid_slots;  // for grids, in shared memory
  FastDivisor images;
  FastDivisor column_tiles;
  FastDivisor bands;
  std::int64_t blocks;
};

/// Threads of a block at most.
inline constexpr std::int32_t kTileThreads = 256;

/// Rows per thread: as many as pay for what a block does first, as few as keep the last blocks
/// short. Measured on an H200.
inline std::int32_t rows_per_thread(Family family, DType in) {
  switch (family) {
    case Family::boxes:
      return size_of(in) == 2 ? 4 : 8;
    case Family::terms:
      return 8;
    case Family::field:
      return in == DType::f32 ? 8 : 32;
    case Family::gaussian:
    case Family::grid:
    case Family::masked_terms:
    case Family::resampled:
      break;
  }
  return 16;
}

inline std::int32_t divide_up(std::int32_t a, std::int32_t b) { return (a + b - 1) / b; }

/// Rows of a tile: `most`, or a little less if the height is a multiple of that.
inline std::int32_t rows_that_divide(std::int32_t height, std::int32_t most) {
  if (most <= 1) return 1;
  if (most >= height) return height;
  for (std::int32_t rows = most; 4 * rows > 3 * most; --rows) {
    if (height % rows == 0) return rows;
  }
  return most;
}

/// Grids of an output's terms that shared memory is given for.
inline constexpr std::int32_t kGridSlots = 4;

/// Floats of shared memory for the rows of a grid at each column, and, with the taps of the band's
/// rows, in all.
MEDLEY_HOST_DEVICE inline std::int32_t grid_values(ImageSize size, const TileGrid& grid) {
  return (grid.band_rows + 1) * size.width;
}
MEDLEY_HOST_DEVICE inline std::int32_t grid_slot(ImageSize size, const TileGrid& grid) {
  return (grid_values(size, grid) + 3 * grid.band_rows + 3) / 4 * 4;
}

/// Cuts outputs into bands for a family, shorter ones where multiprocessors would lack work or
/// shared memory would be short.
inline TileGrid tile_grid(const MixParams& p, std::int32_t vector_values, Family family,
                          const PlanNeeds& needs) {
  constexpr std::int64_t kThreadsThatFill = std::int64_t{1} << 18;
  constexpr std::int32_t kFewThreads = 128;
  const std::int32_t unit = p.out_layout == Layout::nhwc ? p.channels : 1;
  const std::int32_t row_values = p.size.width * unit;
  const std::int32_t columns = row_values / vector_values;
  const std::int32_t planes = p.channels / unit;
  const std::int32_t column_tiles = divide_up(columns, kTileThreads);
  const std::int32_t tile_columns = divide_up(columns, column_tiles);
  const std::int64_t vectors = p.batch * planes * p.size.height * columns;
  const bool few = vectors < kThreadsThatFill;
  const std::int32_t tile_rows =
      rows_that_divide(p.size.height, (few ? kFewThreads : kTileThreads) / tile_columns);
  std::int32_t band = tile_rows * (few ? 1 : rows_per_thread(family, p.in_dtype));
  std::int32_t slots = family == Family::grid ? 1 : 0;
  if (family == Family::masked_terms) slots = std::min(needs.terms, kGridSlots);
  // Several blocks of a multiprocessor are to have room for their grids.
  constexpr std::int32_t kGridFloats = 8 << 10;
  const std::int32_t fitting =
      slots == 0 ? band : (kGridFloats / slots - p.size.width) / (p.size.width + 3);
  while (band > std::max(fitting, tile_rows)) band -= tile_rows;
  // Bands alike, of whole tiles.
  const std::int32_t rows = divide_up(p.size.height, divide_up(p.size.height, band));
  const std::int32_t band_rows = divide_up(rows, tile_rows) * tile_rows;
  const std::int32_t bands = divide_up(p.size.height, band_rows);
  return {row_values,
          columns,
          tile_columns,
          tile_rows,
          band_rows,
          slots,
          FastDivisor(p.batch),
          FastDivisor(column_tiles),
          FastDivisor(bands),
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
  std::int64_t floats = std::int64_t{grid.grid_slots} * grid_slot(size, grid);
  if (family == Family::gaussian) floats = std::int64_t{size.width} + grid.band_rows;
  if (family == Family::resampled) {
    floats = resample_taps(size, grid) + 2 * std::int64_t{staged_rows(grid)} * grid.row_values;
  }
  return static_cast<std::size_t>(floats) * sizeof(float);
}

#if defined(__CUDACC__)
/// Where a thread works in the plan's entry number `image`: values [value, value + vector) of rows
/// first_row, first_row + blockDim.y, … below end_row of a plane. Threads beyond the edge have no
/// rows.
struct Tile {
  std::int32_t image;
  std::int32_t plane;
  std::int32_t column;
  std::int32_t value;
  std::int32_t first_row;
  std::int32_t end_row;
  std::int32_t band_begin;
};

__device__ inline Tile tile_of(const TileGrid& grid, ImageSize size, std::int32_t vector_values) {
  const std::uint32_t tile_index = grid.images.divide(blockIdx.x);
  const std::uint32_t band_index = grid.column_tiles.divide(tile_index);
  const std::uint32_t column_tile = tile_index - band_index * grid.column_tiles.divisor;
  const std::uint32_t plane = grid.bands.divide(band_index);
  const std::uint32_t band = band_index - plane * grid.bands.divisor;
  Tile tile;
  tile.image = static_cast<std::int32_t>(blockIdx.x - tile_index * grid.images.divisor);
  tile.plane = static_cast<std::int32_t>(plane);
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
