#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/gaussian_factor.h"
#include "core/interpolation.h"
#include "kernels/pixel.h"
#include "medley/mix.h"
#include "medley/plan.h"

namespace medley {

// A plan as the kernels want it: indices relative to the input, weights in single precision, no
// variants. Plain data that can be copied to another device as it is.

struct LoweredSource {
  std::int64_t image = 0;
  std::int32_t dy = 0;
  std::int32_t dx = 0;
  std::int32_t flip = 0;
  std::int32_t tiles = -1;  // where its LoweredTiles begin in the plan's tiles; -1: none

  [[nodiscard]] MEDLEY_HOST_DEVICE bool whole() const noexcept {
    return dy == 0 && dx == 0 && flip == 0 && tiles < 0;
  }
};

/// A tile map as it lies among the plan's tiles: this, then its tiles, row by row, each as the row
/// and column of the tile that it shows: row << 16 | column.
struct LoweredTiles {
  std::int32_t height;  // of a tile
  std::int32_t width;
  std::int32_t columns;
};
inline constexpr std::int32_t kTilesHead = sizeof(LoweredTiles) / sizeof(std::int32_t);

/// Pixels of a window.
struct Place {
  std::int32_t y;
  std::int32_t x;
};

/// What pixel (y, x) of the window shows after its tiles were moved; `map` is that of the source.
MEDLEY_HOST_DEVICE inline Place moved_place(const std::int32_t* map, std::int32_t y,
                                            std::int32_t x) noexcept {
  const LoweredTiles tiles{map[0], map[1], map[2]};
  const std::int32_t ty = y / tiles.height;
  const std::int32_t tx = x / tiles.width;
  const std::int32_t from = map[kTilesHead + ty * tiles.columns + tx];
  return {y + ((from >> 16) - ty) * tiles.height, x + ((from & 0xFFFF) - tx) * tiles.width};
}

enum class MaskKind : std::int32_t { flat, box, gaussian, field, grid };

/// Values that pixels take their weights from.
struct LoweredGrid {
  std::int64_t values = 0;  // offset in the plan's fields
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::int32_t bilinear = 0;
};

/// Its value at pixel (y, x) of an output.
MEDLEY_HOST_DEVICE inline float grid_at(const LoweredGrid& g, const float* fields, ImageSize size,
                                        std::int32_t y, std::int32_t x) noexcept {
  return grid_value(fields + g.values, g.columns, grid_tap(g.bilinear != 0, y, size.height, g.rows),
                    grid_tap(g.bilinear != 0, x, size.width, g.columns));
}

struct LoweredEntry {
  LoweredSource own;
  LoweredSource partner;
  MaskKind kind = MaskKind::flat;
  Resample resample = Resample::none;
  // box: its place; gaussian: the center in top and left; grid: its rows and columns in height and
  // width, and whether it is bilinear in top
  std::int32_t top = 0;
  std::int32_t left = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;
  Weights inside{};   // box
  Weights outside{};  // box, flat
  std::int32_t peak_own = 0;
  double gaussian_scale = 0;
  std::int64_t field = 0;  // or grid: offset in the plan's fields
  std::int64_t term_begin = 0;
  std::int32_t term_count = 0;  // 0: own and partner
  std::int32_t masked = 0;      // whether a term has a mask of its own

  [[nodiscard]] MEDLEY_HOST_DEVICE LoweredGrid grid() const noexcept {
    return {field, height, width, top};
  }
};

struct LoweredTerm {
  LoweredSource source;
  float weight = 0;
  MaskKind kind = MaskKind::flat;  // or field, grid: where its pixels' weights come from
  LoweredGrid grid;                // of both
};

/// Weight of a term at pixel (y, x).
MEDLEY_HOST_DEVICE inline float term_weight(const LoweredTerm& term, const float* fields,
                                            ImageSize size, std::int32_t y,
                                            std::int32_t x) noexcept {
  if (term.kind == MaskKind::field) {
    return fields[term.grid.values + std::int64_t{y} * size.width + x];
  }
  return term.kind == MaskKind::grid ? grid_at(term.grid, fields, size, y, x) : term.weight;
}

struct LoweredPlan {
  ImageSize size;
  std::vector<LoweredEntry> entries;
  std::vector<LoweredTerm> terms;
  std::vector<std::int32_t> tiles;
  std::vector<std::int32_t> tile_begins;  // of each map in `tiles`
  const float* fields = nullptr;          // the plan's own
};

/// Everything a kernel needs besides the plan.
struct MixJob {
  ImageBatchView in;
  MutableImageBatchView out;
  std::span<const Affine> affine;  // one per channel, or none
  PadMode pad_mode = PadMode::constant;
  float pad_value = 0;
  int threads = 0;
  bool streaming = false;
  bool in_place = false;
};

/// Throws InvalidArgument if a source lies outside the `images` images of the input, and for open
/// plans.
[[nodiscard]] LoweredPlan lower(const MixPlan& plan, std::int64_t images);
/// The same into a plan whose memory serves again.
void lower(const MixPlan& plan, std::int64_t images, LoweredPlan& lowered);

/// Weights at pixel (y, x). `row` and `column` are the Gaussian factors of y and x, `field` the
/// field's or grid's value there; each only matters for its kind of mask.
MEDLEY_HOST_DEVICE inline Weights weights_at(const LoweredEntry& e, ImageSize size, std::int32_t y,
                                             std::int32_t x, float row, float column,
                                             float field) noexcept {
  switch (e.kind) {
    case MaskKind::box:
      return in_interval(y, e.top, e.height, size.height) &&
                     in_interval(x, e.left, e.width, size.width)
                 ? e.inside
                 : e.outside;
    case MaskKind::gaussian: {
      const float k = row * column;
      const float rest = 1.0f - k;
      return e.peak_own != 0 ? Weights{k, rest} : Weights{rest, k};
    }
    case MaskKind::field:
    case MaskKind::grid:
      return {field, 1.0f - field};
    case MaskKind::flat:
      break;
  }
  return e.outside;
}

// The backends. Arguments have been checked.
void mix_reference(const LoweredPlan& plan, const MixJob& job);
void mix_cpu(const LoweredPlan& plan, const MixJob& job);

}  // namespace medley
