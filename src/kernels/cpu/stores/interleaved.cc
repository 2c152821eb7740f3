#include <cstdint>
#include <limits>

#include "kernels/cpu/stores/row_store.h"

namespace medley {
namespace {

class InterleavedStore final : public RowStore {
 public:
  InterleavedStore(const CpuCall& call, const SourceRows& sources, Scratch& scratch)
      : RowStore(call, sources),
        rounded_(call, scratch),
        planes_(scratch.take<std::byte>(call.group * call.width * call.channels * call.out_size)) {}

  [[nodiscard]] std::int64_t most_rows(const EntryPart& part, const MaskRows& mask) const override {
    if (!is_fused(part, mask)) return RowStore::most_rows(part, mask);
    return std::numeric_limits<std::int64_t>::max();
  }

  void store(const EntryPart& part, MaskRows& mask, std::span<const Run> runs) override {
    if (is_fused(part, mask)) {
      for (const Run& run : runs) store_fused(part, mask, run);
      return;
    }
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
  /// Whether three channels are mixed at a time, and interleaved in registers.
  [[nodiscard]] bool is_fused(const EntryPart& part, const MaskRows& mask) const {
    return call_.channels == 3 && call_.job.out.dtype == DType::f32 && part.contiguous &&
           mask.is_flat();
  }

  void store_fused(const EntryPart& part, const MaskRows& mask, const Run& run) const {
    const Slice first = slice(part, run, 0);
    const std::int64_t channel = call_.job.in.strides.channel * call_.in_size;
    const std::int64_t row_bytes = call_.row * call_.in_size;
    const std::int64_t rows = call_.dense_out ? 1 : run.rows;
    const std::int64_t n = run.rows * call_.row / rows;
    const RowStyle how = call_.style(0, call_.job.streaming);
    ThreePlanes planes{};
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int32_t c = 0; c < 3; ++c) {
        planes.a[c] = first.own + c * channel + r * row_bytes;
        planes.b[c] = first.partner + c * channel + r * row_bytes;
        planes.affine[c] = call_.style(c, false).affine;
      }
      planes.out[0] = reinterpret_cast<float*>(call_.out_row(part.b, 0, run.y + r));
      call_.ops.flat_interleaved(planes, *mask.weights_of(first), how, n);
    }
  }

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
