#include <cstdint>

#include "kernels/cpu/stores/row_store.h"

namespace medley {
namespace {

/// Writing many channels at once would keep too many streams open.
constexpr std::int64_t kMaxStreams = 4;

class PlanarStore final : public RowStore {
 public:
  PlanarStore(const CpuCall& call, const SourceRows& sources, Scratch& scratch)
      : RowStore(call, sources), rounded_(call, scratch) {}

  void store(const EntryPart& part, MaskRows& mask, std::span<const Run> runs) override {
    const bool stream = call_.job.streaming && call_.channels <= kMaxStreams;
    const bool floats = call_.job.out.dtype == DType::f32 && call_.dense_out;
    const std::int64_t stride = call_.job.out.strides.row * call_.out_size;
    const LoweredEntry& e = *part.entry;
    for (const Run& run : runs) {
      const std::int64_t plane = run.rows * call_.row * call_.in_size;
      Slice slice{0, run.y, run.rows, run.inside, sources_.nothing(), sources_.nothing()};
      if (run.needs_own) slice.own = sources_.planes(part.own, e.own, run.y, run.rows, 0);
      if (run.needs_partner) {
        slice.partner = sources_.planes(part.partner, e.partner, run.y, run.rows, 1);
      }
      for (; slice.c < call_.channels; ++slice.c) {
        std::byte* out = call_.out_row(part.b, slice.c, run.y);
        if (floats && (!stream || mask.streams(run.inside))) {
          mask.mix(slice, call_.style(slice.c, stream), reinterpret_cast<float*>(out));
        } else {
          rounded_.mix(mask, slice, out, stride, stream);
        }
        if (run.needs_own) slice.own += plane;
        if (run.needs_partner) slice.partner += plane;
      }
    }
  }

 private:
  RoundedRows rounded_;
};

}  // namespace

RowStore& planar_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch) {
  return scratch.make<PlanarStore>(call, sources, scratch);
}

}  // namespace medley
