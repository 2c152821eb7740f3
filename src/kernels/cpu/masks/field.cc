#include "kernels/cpu/masks/mask_rows.h"

namespace medley {
namespace {

class FieldRows final : public MaskRows {
 public:
  FieldRows(const CpuCall& call, Scratch& scratch) : MaskRows(call) {
    if (call.unit > 1) wide_ = scratch.take<float>(call.long_group * call.row);
  }

 protected:
  Region prepare() override {
    Region all;
    all.height = call_.height;
    all.outside = entry().outside;
    return all;
  }
  void mix_inside(const Slice& slice, const RowStyle& how, float* out) override {
    const float* mask = call_.plan.fields + entry().field + std::int64_t{slice.y} * call_.width;
    if (call_.unit > 1) {
      call_.lines.repeat(mask, call_.unit, wide_, slice.rows * call_.width);
      mask = wide_;
    }
    call_.ops.blend_mask(slice.own, slice.partner, mask, how, out, slice.rows * call_.row);
  }

 private:
  float* wide_ = nullptr;  // of interleaved rows
};

}  // namespace

MaskRows& field_rows(const CpuCall& call, Scratch& scratch) {
  return scratch.make<FieldRows>(call, scratch);
}

}  // namespace medley
