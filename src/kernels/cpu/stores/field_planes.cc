#include <cstdint>

#include "kernels/cpu/stores/row_store.h"

namespace medley {
namespace {

class FieldPlanesStore final : public RowStore {
 public:
  using RowStore::RowStore;

  void store(const EntryPart& part, MaskRows& /*mask*/, std::span<const Run> runs) override {
    for (const Run& run : runs) {
      ThreePlanes planes;
      for (std::int32_t c = 0; c < 3; ++c) {
        const Slice rows = slice(part, run, c);
        planes.a[c] = rows.own;
        planes.b[c] = rows.partner;
        planes.affine[c] = call_.style(c, true).affine;
        planes.out[c] = reinterpret_cast<float*>(call_.out_row(part.b, c, run.y));
      }
      const float* mask = call_.plan.fields + part.entry->field + std::int64_t{run.y} * call_.width;
      // Three channels take three times as long to get as far.
      call_.ops.blend_mask_planes(planes, mask, call_.ahead / 2, run.rows * call_.row);
    }
  }
};

}  // namespace

RowStore& field_planes_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch) {
  return scratch.make<FieldPlanesStore>(call, sources);
}

}  // namespace medley
