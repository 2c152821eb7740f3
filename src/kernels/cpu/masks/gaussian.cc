#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cpu/masks/mask_rows.h"

namespace medley {
namespace {

/// Values beside the columns: loops read up to a vector before and behind them.
constexpr std::int64_t kSlack = 16;

class GaussianRowMixer final : public MaskRows {
 public:
  GaussianRowMixer(const CpuCall& call, Scratch& scratch) : MaskRows(call) {
    const std::int64_t rows = call.height * (call.planes_follow ? call.channels : 1);
    factors_ = scratch.take<float>(std::max(call.height, call.width) + 64);
    row_factors_ = scratch.take<float>(rows);
    reach_ = scratch.take<std::int32_t>(rows);
    columns_ = scratch.take<float>(call.row + 2 * kSlack) + kSlack;
    std::fill_n(columns_ - kSlack, kSlack, 0.0f);
    std::fill_n(columns_ + call.row, kSlack, 0.0f);
  }

  [[nodiscard]] bool takes_planes(const LoweredEntry& /*entry*/) const override { return true; }

 protected:
  Region prepare() override {
    const LoweredEntry& e = entry();
    const std::int32_t y0 = part_->y0;
    const std::int32_t y1 = part_->y1;
    const std::int32_t far =
        std::max({e.left, call_.width - 1 - e.left, e.top - y0, y1 - 1 - e.top});
    call_.lines.gaussian_factors(e.gaussian_scale, factors_, far + 1);
    for (std::int32_t y = y0; y < y1; ++y) row_factors_[y - y0] = factors_[std::abs(y - e.top)];
    float* column = columns_;
    for (std::int32_t x = 0; x < call_.width; ++x) {
      const float factor = factors_[std::abs(x - e.left)];
      for (std::int64_t k = 0; k < call_.unit; ++k) *column++ = factor;
    }
    Region support;
    support.height = call_.height;
    support.outside = e.peak_own != 0 ? Weights{0, 1} : Weights{1, 0};
    find_reach(far, support);
    if (part_->whole) {
      support.top = 0;
      support.height = call_.height;
      for (std::int64_t i = y1; i < y1 * call_.channels; ++i) {
        row_factors_[i] = row_factors_[i - y1];
        reach_[i] = reach_[i - y1];
      }
    }
    return support;
  }

  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    const LoweredEntry& e = entry();
    const bool own_peak = e.peak_own != 0;
    const std::int32_t first = slice.y - part_->y0;
    const GaussianRows mask{row_factors_ + first,
                            columns_,
                            factors_[std::max(e.left, call_.width - 1 - e.left)],
                            reach_ + first,
                            e.left * call_.unit,
                            (e.left + 1) * call_.unit,
                            call_.least_weight > 0x1p-124};
    call_.ops.blend_gaussian(own_peak ? slice.own : slice.partner,
                             own_peak ? slice.partner : slice.own, mask, how, out, slice.rows,
                             call_.row);
  }

 private:
  /// How far to the sides and from top to bottom the mask matters; `far`: the largest distance.
  void find_reach(std::int32_t far, Region& support) {
    const LoweredEntry& e = entry();
    const std::int32_t y0 = part_->y0;
    const std::int32_t y1 = part_->y1;
    const double radius2 = -std::log(call_.least_weight) / e.gaussian_scale;
    if (radius2 >= 2.0 * far * far) {  // everywhere
      std::fill_n(reach_, y1 - y0, static_cast<std::int32_t>(call_.row));
      return;
    }
    const auto radius = static_cast<std::int32_t>(std::sqrt(radius2)) + 1;
    for (std::int32_t y = y0; y < y1; ++y) {
      const double distance = y - e.top;
      const double rest = radius2 - distance * distance;
      const auto side = static_cast<std::int32_t>(std::sqrt(std::max(rest, 0.0))) + 1;
      reach_[y - y0] =
          rest < 0 ? -1 : static_cast<std::int32_t>(std::min(side * call_.unit, call_.row));
    }
    support.top = std::max(e.top - radius, 0);
    support.height = std::min(e.top + radius + 1, call_.height) - support.top;
  }

  float* factors_;       // by distance
  float* row_factors_;   // of the rows from the first on
  std::int32_t* reach_;  // … and how far to the sides it matters there
  float* columns_;       // of the values of a row
};

}  // namespace

MaskRows& gaussian_rows(const CpuCall& call, Scratch& scratch) {
  return scratch.make<GaussianRowMixer>(call, scratch);
}

}  // namespace medley
