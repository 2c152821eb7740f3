#pragma once

#include <cstdint>

#include "kernels/cpu/call.h"
#include "kernels/cpu/scratch.h"
#include "kernels/lower.h"

namespace medley {

/// Loops read up to a vector before and behind a row of weights.
inline constexpr std::int64_t kWeightSlack = 16;

/// What columns of an output take from a grid; kept from one grid to the next of its kind.
class GridColumns {
 public:
  GridColumns(const CpuCall& call, Scratch& scratch);

  /// A row of the grid as weights of all values of an output's row; `weights` has room for 16 more.
  void expand(const LoweredGrid& grid, const float* row, float* weights);

 private:
  const CpuCall& call_;
  std::int32_t columns_ = 0;  // of which the following are
  std::int32_t bilinear_ = 0;
  std::int32_t* first_;  // of each value of a row
  std::int32_t* second_;
  float* fractions_;
};

/// Weights of the rows of an output that a grid gives.
class GridRows {
 public:
  GridRows() = default;
  GridRows(const CpuCall& call, const LoweredGrid& grid) : call_(&call), grid_(grid) {}

  /// Floats that its rows need.
  [[nodiscard]] static std::int64_t values(const CpuCall& call, const LoweredGrid& grid) {
    return grid.rows * (call.row + 2 * kWeightSlack);
  }
  /// Makes what rows [y0, y1) need in `memory`, of `values` floats, which must stay alive.
  void expand(GridColumns& columns, std::int32_t y0, std::int32_t y1, float* memory);

  /// Weights of the row with this tap, in the rows of the grid or in `room`, with 16 more.
  [[nodiscard]] const float* row(const Tap& at, float* room) const;
  [[nodiscard]] const float* row(std::int32_t y, float* room) const { return row(tap(y), room); }
  /// Whether rows [y, y + rows) have no weight other than 0.
  [[nodiscard]] bool is_zero(std::int32_t y, std::int64_t rows) const;

 private:
  [[nodiscard]] Tap tap(std::int32_t y) const {
    return grid_tap(grid_.bilinear != 0, y, call_->height, grid_.rows);
  }
  [[nodiscard]] float* expanded(std::int32_t row) const {
    return memory_ + row * (call_->row + 2 * kWeightSlack) + kWeightSlack;
  }

  const CpuCall* call_ = nullptr;
  LoweredGrid grid_;
  float* memory_ = nullptr;
};

}  // namespace medley
