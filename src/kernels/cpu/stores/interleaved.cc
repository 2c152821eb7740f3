#include <cstdint>

#include "kernels/cpu/stores/row_store.h"

namespace medley {
namespace {

class InterleavedStore final : public RowStore {
 public:
  InterleavedStore(const CpuCall& call, const SourceRows& sources, Scratch& scratch)
      : RowStore(call, sources),
        rounded_(call, scratch),
        planes_(scratch.take<std::byte>(call.group * call.width * call.channels * call.out_size)) {}

  void store(const EntryPart& part, MaskRows& mask, std::span<const Run> runs) override {
    const bool floats = call_.job.out.dtype == DType::f32;
    for (const Run& run : runs) {
      const std::int64_t n = run.rows * call_.row;
      for (std::int32_t c = 0; c < call_.channels; ++c) {
        std::byte* plane = planes_ + c * n * call_.out_size;
        if (floats) {
          mask.mix(slice(part, run, c), call_.style(c, false), reinterpret_cast<float*>(plane));
        } else {
          rounded_.mix(mask, slice(part, run, c), plane, call_.row * call_.out_size, false);
        }
      }
      interleave(call_.out_row(part.b, 0, run.y), run.rows, n);
    }
  }

 private:
  void interleave(std::byte* out, std::int64_t rows, std::int64_t plane) const {
    const std::int64_t count = call_.dense_out ? 1 : rows;
    const std::int64_t n = plane / count;
    for (std::int64_t r = 0; r < count; ++r) {
      call_.lines.interleave(
          {planes_ + r * n * call_.out_size, plane, call_.out_size, call_.channels, n},
          out + r * call_.job.out.strides.row * call_.out_size, call_.job.streaming);
    }
  }

  RoundedRows rounded_;
  std::byte* planes_;
};

}  // namespace

RowStore& interleaved_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch) {
  return scratch.make<InterleavedStore>(call, sources, scratch);
}

}  // namespace medley
