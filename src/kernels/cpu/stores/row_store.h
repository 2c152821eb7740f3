#pragma once

#include <span>

#include "kernels/cpu/call.h"
#include "kernels/cpu/masks/mask_rows.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/source_rows.h"

namespace medley {

/// Makes rows of outputs in one way of storing them: mixes them, and brings them into the type and
/// the order of axes of the output.
class RowStore {
 public:
  RowStore(const CpuCall& call, const SourceRows& sources) : call_(call), sources_(sources) {}
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  /// Most rows of a run of the part.
  [[nodiscard]] virtual std::int64_t most_rows(const EntryPart& part, const MaskRows& mask) const;
  /// Rows of the part, cut into `runs`; `mask` has been started with it. Streamed lines are in
  /// place after a fence.
  virtual void store(const EntryPart& part, MaskRows& mask, std::span<const Run> runs) = 0;

 protected:
  ~RowStore() = default;

  /// A run of one channel (or of all, interleaved), with its rows of the images.
  [[nodiscard]] Slice slice(const EntryPart& part, const Run& run, std::int32_t c) const;

  const CpuCall& call_;
  const SourceRows& sources_;
};

// One per way of storing, each in a file of its own. What they need lives in `scratch`.

/// Outputs whose axes have the order of the input's.
RowStore& same_layout_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch);
/// Fields of three channels, streamed: a field is read once for all of them. The part is
/// contiguous.
RowStore& field_planes_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch);
/// From nhwc to nchw.
RowStore& planar_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch);
/// From nchw to nhwc.
RowStore& interleaved_store(const CpuCall& call, const SourceRows& sources, Scratch& scratch);

/// Mixes rows in memory of its own that go to outputs of another type, or where they cannot be
/// mixed in place.
class RoundedRows {
 public:
  RoundedRows(const CpuCall& call, Scratch& scratch)
      : call_(call), block_(scratch.take<float>(call.group * call.row)) {}

  /// `slice` has `rows` rows at most; they go to `out`, rows `stride` bytes apart, past the caches
  /// if `stream`.
  void mix(MaskRows& mask, const Slice& slice, std::byte* out, std::int64_t stride,
           bool stream) const;

 private:
  const CpuCall& call_;
  float* block_;
};

}  // namespace medley
