#include <cstdint>

#include "kernels/cpu/stores/row_store.h"

namespace medley {
namespace {

class SameLayoutStore final : public RowStore {
 public:
  SameLayoutStore(const CpuCall& call, const SourceRows& sources, Scratch& scratch)
      : RowStore(call, sources), rounded_(call, scratch) {}

  void store(const EntryPart& part, MaskRows& mask, std::span<const Run> runs) override {
    const bool one_pass = call_.in_nhwc || part.whole;
    const auto passes = static_cast<std::int32_t>(one_pass ? 1 : call_.channels);
    for (std::int32_t c = 0; c < passes; ++c) {
      mask.start_channel(c);
      for (const Run& run : runs) {
        mask.start_rows(run.y, run.rows);
        std::byte* out = call_.out_row(part.b, c, run.y);
        const bool streaming = call_.job.streaming;
        if (call_.direct && (!streaming || mask.streams(run.inside))) {
          mix_floats(mask, slice(part, run, c), reinterpret_cast<float*>(out));
        } else {
          rounded_.mix(mask, slice(part, run, c), out, stride(), streaming);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t stride() const { return call_.job.out.strides.row * call_.out_size; }

  void mix_floats(MaskRows& mask, Slice slice, float* out) const {
    const RowStyle how = call_.style(slice.c, call_.job.streaming);
    if (call_.dense_out) return mask.mix(slice, how, out);
    const std::int64_t rows = slice.rows;
    const std::int64_t row_bytes = call_.row * call_.in_size;
    slice.rows = 1;
    for (std::int64_t r = 0; r < rows; ++r) {
      mask.mix(slice, how, out);
      ++slice.y;
      slice.own += row_bytes;
      slice.partner += row_bytes;
      out += call_.job.out.strides.row;
    }
  }

  RoundedRows rounded_;
};

}  // namespace

RowStore& same_layout_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch) {
  return scratch.make<SameLayoutStore>(call, sources, scratch);
}

}  // namespace medley
