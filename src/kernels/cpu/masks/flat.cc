#include "kernels/cpu/masks/mask_rows.h"

namespace medley {

void MaskRows::mix_outside(const Slice& slice, const RowStyle& how, float* out) {
  mix_flat(region_.outside, slice.own, slice.partner, how, out, slice.rows * call_.row);
}

void MaskRows::mix_flat(Weights weights, const std::byte* own, const std::byte* partner,
                        const RowStyle& how, float* out, std::int64_t n) const {
  if (weights.partner == 0) {
    call_.ops.convert(own, how, out, n);
  } else if (weights.own == 0) {
    call_.ops.convert(partner, how, out, n);
  } else {
    call_.ops.blend_flat(own, partner, weights, how, out, n);
  }
}

namespace {

class FlatRows final : public MaskRows {
 public:
  using MaskRows::MaskRows;

  [[nodiscard]] bool takes_planes(const LoweredEntry& /*entry*/) const override { return true; }
  [[nodiscard]] bool is_flat() const override { return true; }

 protected:
  Region prepare() override {
    Region all;
    all.height = call_.height;
    all.outside = entry().outside;
    all.needs_own = all.outside.own != 0;
    all.needs_partner = all.outside.partner != 0;
    return all;
  }
  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    mix_outside(slice, how, out);
  }
};

}  // namespace

MaskRows& flat_rows(const CpuCall& call, Scratch& scratch) { return scratch.make<FlatRows>(call); }

}  // namespace medley
