#include "kernels/cpu/masks/grid_weights.h"

#include <algorithm>

namespace medley {
namespace {

/// Between two values: `interpolate`, for many fractions.
void blend_values(float first, float second, const float* fractions, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float fraction = fractions[i];
    const float rest = 1.0f - fraction;
    const float sum = first * rest + second * fraction;
    out[i] = fraction == 0.0f ? first : rest == 0.0f ? second : sum;
  }
}

}  // namespace

GridColumns::GridColumns(const CpuCall& call, Scratch& scratch)
    : call_(call),
      begins_(scratch.take<std::int32_t>(call.width + 1)),
      fractions_(scratch.take<float>(call.row)) {}

void GridColumns::expand(const LoweredGrid& grid, const float* row, float* weights) {
  const std::int64_t unit = call_.unit;
  if (grid.columns != columns_ || grid.bilinear != bilinear_) {
    columns_ = grid.columns;
    bilinear_ = grid.bilinear;
    std::int32_t column = 0;
    begins_[0] = 0;
    for (std::int32_t x = 0; x < call_.width; ++x) {
      const Tap tap = grid_tap(bilinear_ != 0, x, call_.width, columns_);
      while (column < tap.first) begins_[++column] = x;
      std::fill_n(fractions_ + x * unit, unit, tap.fraction);
    }
    while (column < columns_) begins_[++column] = call_.width;
  }
  if (bilinear_ != 0) return expand_bilinear(row, weights);
  for (std::int32_t c = 0; c < columns_; ++c) {
    std::fill(weights + begins_[c] * unit, weights + begins_[c + 1] * unit, row[c]);
  }
}

void GridColumns::expand_bilinear(const float* row, float* weights) const {
  const std::int64_t unit = call_.unit;
  for (std::int32_t c = 0; c < columns_; ++c) {
    const std::int64_t begin = begins_[c] * unit;
    blend_values(row[c], row[std::min(c + 1, columns_ - 1)], fractions_ + begin, weights + begin,
                 begins_[c + 1] * unit - begin);
  }
}

void GridRows::expand(GridColumns& columns, std::int32_t y0, std::int32_t y1, float* memory) {
  memory_ = memory;
  const float* values = call_->plan.fields + grid_.values;
  const std::int32_t end = tap(y1 - 1).second;
  for (std::int32_t r = tap(y0).first; r <= end; ++r) {
    columns.expand(grid_, values + std::int64_t{r} * grid_.columns, expanded(r));
  }
}

const float* GridRows::row(std::int32_t y, float* room) const {
  const Tap at = tap(y);
  const float* first = expanded(at.first);
  const float* second = expanded(at.second);
  const float rest = 1.0f - at.fraction;
  if (at.fraction == 0.0f) return first;
  if (rest == 0.0f) return second;
  for (std::int64_t i = 0; i < call_->row; ++i) {
    room[i] = first[i] * rest + second[i] * at.fraction;
  }
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
