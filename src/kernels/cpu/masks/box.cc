#include "kernels/cpu/masks/mask_rows.h"

namespace medley {
namespace {

class BoxRowMixer final : public MaskRows {
 public:
  using MaskRows::MaskRows;

  /// Boxes with four edges.
  [[nodiscard]] bool takes_planes(const LoweredEntry& e) const override {
    return e.height > 0 && e.width < call_.width && e.top + e.height <= call_.height &&
           e.left + e.width <= call_.width;
  }

 protected:
  Region prepare() override {
    const LoweredEntry& e = entry();
    Region box;
    box.top = e.top;
    box.height = e.height;
    if (part_->whole) {
      box.top = 0;
      box.height = call_.height;
    }
    box.outside = e.outside;
    const bool shows_outside = e.width < call_.width;
    box.needs_own = (shows_outside && e.outside.own != 0) || e.inside.own != 0;
    box.needs_partner = (shows_outside && e.outside.partner != 0) || e.inside.partner != 0;
    return box;
  }

  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    const LoweredEntry& e = entry();
    const std::int64_t rows = slice.rows;
    if (e.width == call_.width) {
      return mix_flat(e.inside, slice.own, slice.partner, how, out, rows * call_.row);
    }
    const std::int64_t left = e.left * call_.unit;
    const std::int64_t right = left + e.width * call_.unit;
    // A wrapped box leaves a gap in the middle of the row.
    const bool wraps = right > call_.row;
    BoxRows box{call_.row,
                rows,
                0,
                rows,
                wraps ? right - call_.row : left,
                wraps ? left : right,
                wraps ? e.outside : e.inside,
                wraps ? e.inside : e.outside};
    if (part_->whole) {
      box.height = call_.height;
      box.top = e.top;
      box.bottom = e.top + e.height;
    }
    call_.ops.blend_box(slice.own, slice.partner, box, far_style(how), out, rows);
  }

 private:
  /// Rows far below are asked for if both images are copied, else one is read all along; and not
  /// if the box is low, as other columns are needed below it.
  [[nodiscard]] RowStyle far_style(RowStyle how) const {
    const LoweredEntry& e = entry();
    const bool copies = e.inside.own == 0 || e.inside.partner == 0;
    const bool high = 2 * call_.far < e.height * call_.row * call_.in_size;
    if (how.stream && part_->contiguous && copies && high) how.far = call_.far;
    return how;
  }
};

}  // namespace

MaskRows& box_rows(const CpuCall& call, Scratch& scratch) {
  return scratch.make<BoxRowMixer>(call);
}

}  // namespace medley
