#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/call.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/source_rows.h"
#include "kernels/lower.h"

namespace medley {

/// Rows [y0, y1) of an output.
struct EntryPart {
  const LoweredEntry* entry;
  const LoweredEntry* next;  // whose same rows will be mixed after these, or null; only a hint
  const std::byte* own;      // memory of the own image
  const std::byte* partner;  // … and of the partner's
  std::int64_t b;
  std::int32_t y0;
  std::int32_t y1;
  bool contiguous;  // rows of all its sources lie in memory as they are needed
  bool whole;  // … and those of all channels, one after the other, as all rows of the output do
};

/// Rows to be mixed together: all in the region of their mask, or all outside.
struct Slice {
  std::int32_t c;  // their channel; of interleaved rows 0
  std::int32_t y;
  std::int64_t rows;
  bool inside;
  const std::byte* own;      // undefined if the run does not need it
  const std::byte* partner;  // … too
};

/// Mixes rows of outputs with one kind of mask into floats.
class MaskRows {
 public:
  explicit MaskRows(const CpuCall& call) : call_(call) {}
  MaskRows(const MaskRows&) = delete;
  MaskRows& operator=(const MaskRows&) = delete;

  /// What follows is about this part, which must stay alive.
  void start(const EntryPart& part) {
    part_ = &part;
    region_ = prepare();
  }
  [[nodiscard]] const Region& region() const noexcept { return region_; }

  /// Whether rows of all channels are mixed in one go where they follow each other. They count as
  /// rows of the region then, and are those of the part that is `whole`.
  [[nodiscard]] virtual bool takes_planes(const LoweredEntry& /*entry*/) const { return false; }
  /// Whether `mix` obeys a style that streams.
  [[nodiscard]] virtual bool streams(bool /*inside*/) const { return true; }
  /// The next rows are those of channel c.
  virtual void start_channel(std::int32_t /*c*/) {}
  /// These rows are next.
  virtual void start_rows(std::int32_t /*y*/, std::int32_t /*rows*/) {}

  /// Rows one after the other without gaps.
  void mix(const Slice& slice, const RowStyle& how, float* out) {
    slice.inside ? mix_inside(slice, how, out) : mix_outside(slice, how, out);
  }
  /// Whether weights in the region are those outside.
  [[nodiscard]] virtual bool is_flat() const { return false; }
  /// The weights that all values of a slice have, or null if they differ.
  [[nodiscard]] const Weights* weights_of(const Slice& slice) const {
    return slice.inside && !is_flat() ? nullptr : &region_.outside;
  }
  /// The image that the slice consists of, bit for bit, if it is known to.
  [[nodiscard]] const std::byte* copied(const Slice& slice) const {
    const Weights* weights = weights_of(slice);
    if (!call_.copies || weights == nullptr) return nullptr;
    if (weights->partner == 0) return slice.own;
    return weights->own == 0 ? slice.partner : nullptr;
  }

 protected:
  ~MaskRows() = default;

  /// Prepares the part.
  virtual Region prepare() = 0;
  virtual void mix_inside(const Slice& slice, const RowStyle& how, float* out) = 0;
  virtual void mix_outside(const Slice& slice, const RowStyle& how, float* out);
  /// n values with the same weights, some of which may be 0.
  void mix_flat(Weights weights, const std::byte* own, const std::byte* partner,
                const RowStyle& how, float* out, std::int64_t n) const;
  [[nodiscard]] const LoweredEntry& entry() const noexcept { return *part_->entry; }

  const CpuCall& call_;
  const EntryPart* part_ = nullptr;
  Region region_;
};

// One per kind, each in a file of its own. What they need lives in `scratch`.

MaskRows& flat_rows(const CpuCall& call, Scratch& scratch);
MaskRows& box_rows(const CpuCall& call, Scratch& scratch);
MaskRows& gaussian_rows(const CpuCall& call, Scratch& scratch);
MaskRows& field_rows(const CpuCall& call, Scratch& scratch);
MaskRows& grid_rows(const CpuCall& call, Scratch& scratch);
/// Sums of terms, each with a weight of its own.
MaskRows& term_rows(const CpuCall& call, const SourceRows& sources, Scratch& scratch);
/// The same with masks of their own.
MaskRows& masked_term_rows(const CpuCall& call, const SourceRows& sources, Scratch& scratch);
/// Boxes that hold the partner shrunk.
MaskRows& shrunk_rows(const CpuCall& call, Scratch& scratch);

}  // namespace medley
