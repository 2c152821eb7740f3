#include "kernels/cpu/stores/row_store.h"

namespace medley {

Slice RowStore::slice(const EntryPart& part, const Run& run, std::int32_t c) const {
  const LoweredEntry& e = *part.entry;
  Slice slice{c, run.y, run.rows, run.inside, sources_.nothing(), sources_.nothing()};
  // Of whole images, the first channel's rows lead to the others.
  const std::int64_t rows = part.whole ? call_.height : run.rows;
  if (run.needs_own) slice.own = sources_.window(part.own, e.own, c, run.y, rows, 0);
  if (run.needs_partner) {
    slice.partner = sources_.window(part.partner, e.partner, c, run.y, rows, 1);
  }
  return slice;
}

void RoundedRows::mix(MaskRows& mask, const Slice& slice, std::byte* out, std::int64_t stride,
                      bool stream) const {
  const std::int64_t row_bytes = call_.row * call_.out_size;
  // Rows without gaps are one long row.
  const bool dense = stride == row_bytes;
  const std::int64_t rows = dense ? 1 : slice.rows;
  const std::int64_t n = dense ? slice.rows * call_.row : call_.row;
  if (const std::byte* copied = mask.copied(slice); copied != nullptr) {
    if (copied == out) return;
    for (std::int64_t r = 0; r < rows; ++r) {
      call_.lines.copy_bytes(copied + r * row_bytes, out + r * stride, n * call_.out_size, stream);
    }
    return;
  }
  mask.mix(slice, call_.style(slice.c, false), block_);
  const auto round = call_.lines.round[static_cast<int>(call_.job.out.dtype)];
  for (std::int64_t r = 0; r < rows; ++r) round(block_ + r * n, out + r * stride, n, stream);
}

}  // namespace medley
