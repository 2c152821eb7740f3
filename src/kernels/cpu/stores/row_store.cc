#include "kernels/cpu/stores/row_store.h"

namespace medley {
namespace {

/// Rows whose window must be copied only gain from going together if they are shorter than this.
constexpr std::int64_t kShortRow = 512;

}  // namespace

std::int64_t RowStore::most_rows(const EntryPart& part, const MaskRows& /*mask*/) const {
  if (part.contiguous) return call_.long_group;
  // So do rows of tiles.
  const bool tiles = !call_.plan.tiles.empty();
  return tiles || call_.windows.row_bytes() < kShortRow ? call_.group : 1;
}

Slice RowStore::slice(const EntryPart& part, const Run& run, std::int32_t c) const {
  if (part.whole) return {c, run.y, run.rows, run.inside, part.own, part.partner};
  const LoweredEntry& e = *part.entry;
  Slice slice{c, run.y, run.rows, run.inside, sources_.nothing(), sources_.nothing()};
  if (run.needs_own) slice.own = sources_.window(part.own, e.own, c, run.y, run.rows, 0);
  if (run.needs_partner) {
    slice.partner = sources_.window(part.partner, e.partner, c, run.y, run.rows, 1);
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
  // An image may be there already.
  if (const std::byte* copied = mask.copied(slice); copied != nullptr) {
    if (copied == out) return;
    for (std::int64_t r = 0; r < rows; ++r) {
      call_.lines.copy_bytes(copied + r * row_bytes, out + r * stride, n * call_.out_size, stream);
    }
    return;
  }
  const Weights* weights = mask.weights_of(slice);
  const auto flat = call_.ops.flat_rounded[static_cast<int>(call_.job.out.dtype)];
  const RowStyle how = call_.style(slice.c, stream);
  const bool alike = how.affine.scale == nullptr || how.affine.uniform;
  if (weights != nullptr && flat != nullptr && alike) {
    const std::int64_t in_bytes = n * call_.in_size;
    for (std::int64_t r = 0; r < rows; ++r) {
      flat(slice.own + r * in_bytes, slice.partner + r * in_bytes, *weights, how, out + r * stride,
           n);
    }
    return;
  }
  mask.mix(slice, call_.style(slice.c, false), block_);
  const auto round = call_.lines.round[static_cast<int>(call_.job.out.dtype)];
  for (std::int64_t r = 0; r < rows; ++r) round(block_ + r * n, out + r * stride, n, stream);
}

}  // namespace medley
