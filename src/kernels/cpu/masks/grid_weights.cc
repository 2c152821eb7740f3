#include "kernels/cpu/masks/grid_weights.h"

#include <algorithm>

namespace medley {

GridColumns::GridColumns(const CpuCall& call, Scratch& scratch)
    : call_(call),
      first_(scratch.take<std::int32_t>(call.row + kWeightSlack)),
      second_(scratch.take<std::int32_t>(call.row + kWeightSlack)),
      fractions_(scratch.take<float>(call.row + kWeightSlack)) {
  std::fill_n(first_ + call.row, kWeightSlack, 0);
  std::fill_n(second_ + call.row, kWeightSlack, 0);
  std::fill_n(fractions_ + call.row, kWeightSlack, 0.0f);
}

void GridColumns::expand(const LoweredGrid& grid, const float* row, float* weights) {
  // Blocks of two or three values each.
  const std::int64_t block = call_.row / grid.columns;
  if (grid.bilinear == 0 && block <= 3 && call_.width % grid.columns == 0) {
    return call_.lines.repeat(row, block, weights, grid.columns);
  }
  if (grid.columns != columns_ || grid.bilinear != bilinear_) {
    columns_ = grid.columns;
    bilinear_ = grid.bilinear;
    const std::int64_t unit = call_.unit;
    for (std::int32_t x = 0; x < call_.width; ++x) {
      const Tap tap = grid_tap(bilinear_ != 0, x, call_.width, columns_);
      std::fill_n(first_ + x * unit, unit, tap.first);
      std::fill_n(second_ + x * unit, unit, tap.second);
      std::fill_n(fractions_ + x * unit, unit, tap.fraction);
    }
  }
  const RowTaps taps{first_, second_, bilinear_ != 0 ? fractions_ : nullptr};
  call_.lines.resample(row, taps, weights, call_.row);
}

void GridRows::expand(GridColumns& columns, std::int32_t y0, std::int32_t y1, float* memory) {
  memory_ = memory;
  const float* values = call_->plan.fields + grid_.values;
  const std::int32_t end = tap(y1 - 1).second;
  for (std::int32_t r = tap(y0).first; r <= end; ++r) {
    columns.expand(grid_, values + std::int64_t{r} * grid_.columns, expanded(r));
  }
}

const float* GridRows::row(const Tap& at, float* room) const {
  const float* first = expanded(at.first);
  const float* second = expanded(at.second);
  if (at.fraction == 0.0f) return first;
  if (1.0f - at.fraction == 0.0f) return second;
  call_->lines.between(first, second, at.fraction, room, call_->row);
  return room;
}

bool GridRows::is_zero(std::int32_t y, std::int64_t rows) const {
  const float* values = call_->plan.fields + grid_.values;
  const std::int64_t begin = std::int64_t{tap(y).first} * grid_.columns;
  const std::int64_t end =
      (std::int64_t{tap(static_cast<std::int32_t>(y + rows - 1)).second} + 1) * grid_.columns;
  return std::all_of(values + begin, values + end, [](float v) { return v == 0; });
}

}  // namespace medley
