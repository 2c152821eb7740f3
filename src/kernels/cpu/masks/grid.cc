#include <algorithm>

#include "kernels/cpu/masks/grid_weights.h"
#include "kernels/cpu/masks/mask_rows.h"

namespace medley {
namespace {

/// Shorter rows are mixed as a field, whole planes at a time.
constexpr std::int64_t kShortRow = 128;

class GridRowMixer final : public MaskRows {
 public:
  GridRowMixer(const CpuCall& call, Scratch& scratch) : MaskRows(call), columns_(call, scratch) {
    std::int64_t expanded = 0;
    bool bilinear = false;
    for (const LoweredEntry& e : call.plan.entries) {
      if (e.term_count > 0 || e.kind != MaskKind::grid) continue;
      expanded = std::max(expanded, GridRows::values(call, e.grid()));
      bilinear = bilinear || e.grid().bilinear != 0;
    }
    expanded_ = scratch.take<float>(expanded);
    taps_ = scratch.take<Tap>(call.height);
    if (is_short() || bilinear) rows_ = scratch.take<float>(call.height * stride());
    if (!is_short()) {
      pointers_ =
          scratch.take<const float*>(call.height * (call.planes_follow ? call.channels : 1));
    }
  }

  [[nodiscard]] bool takes_planes(const LoweredEntry& /*entry*/) const override { return true; }

 protected:
  Region prepare() override {
    const LoweredGrid shape = entry().grid();
    GridRows grid(call_, shape);
    grid.expand(columns_, part_->y0, part_->y1, expanded_);
    if (shape.rows != taps_rows_ || shape.bilinear != taps_bilinear_) {
      taps_rows_ = shape.rows;
      taps_bilinear_ = shape.bilinear;
      for (std::int32_t y = 0; y < call_.height; ++y) {
        taps_[y] = grid_tap(shape.bilinear != 0, y, call_.height, shape.rows);
      }
    }
    const std::int32_t count = part_->y1 - part_->y0;
    for (std::int32_t i = 0; i < count; ++i) {
      float* room = rows_ == nullptr ? nullptr : rows_ + i * stride() + slack();
      const float* weights = grid.row(taps_[part_->y0 + i], room);
      if (!is_short()) {
        pointers_[i] = weights;
      } else if (weights != room) {
        std::copy_n(weights, call_.row, room);
      }
    }
    if (part_->whole && !is_short()) {
      for (std::int64_t i = count; i < count * call_.channels; ++i) {
        pointers_[i] = pointers_[i - count];
      }
    }
    Region all;
    all.height = call_.height;
    all.outside = entry().outside;
    return all;
  }

  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    const std::int64_t first = slice.y - part_->y0;
    if (!is_short()) {
      return call_.ops.blend_mask_rows(slice.own, slice.partner, pointers_ + first, how, out,
                                       slice.rows, call_.row);
    }
    const float* mask = rows_ + first * call_.row;
    // Of all channels, or of one.
    const std::int64_t planes = part_->whole ? call_.channels : 1;
    const std::int64_t n = slice.rows / planes * call_.row;
    for (std::int64_t c = 0; c < planes; ++c) {
      call_.ops.blend_mask(slice.own + c * n * call_.in_size, slice.partner + c * n * call_.in_size,
                           mask, how, out + c * n, n);
    }
  }

 private:
  [[nodiscard]] bool is_short() const { return call_.row < kShortRow; }
  [[nodiscard]] std::int64_t slack() const { return is_short() ? 0 : kWeightSlack; }
  [[nodiscard]] std::int64_t stride() const { return call_.row + 2 * slack(); }

  GridColumns columns_;
  std::int32_t taps_rows_ = 0;  // of the grid that the following are of
  std::int32_t taps_bilinear_ = 0;
  Tap* taps_;                         // of each row
  float* expanded_;                   // rows of the grid
  float* rows_ = nullptr;             // rows of the part that are no rows of the grid
  const float** pointers_ = nullptr;  // to each row of the part
};

}  // namespace

MaskRows& grid_rows(const CpuCall& call, Scratch& scratch) {
  return scratch.make<GridRowMixer>(call, scratch);
}

}  // namespace medley
