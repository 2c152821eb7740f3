#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/line_ops.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/window.h"
#include "kernels/lower.h"

namespace medley {

/// The partner shrunk into the box of its entry (resizemix), row by row.
class Shrinker {
 public:
  /// Rows come channel by channel; from interleaved inputs all channels at a time, as planes or
  /// interleaved again.
  enum class Channels { one, planes, interleaved };

  Shrinker(const MixJob& job, const LineOps& ops, const WindowReader& windows, ImageSize size,
           Channels channels, Scratch& scratch);

  /// What follows is about this entry; `partner` is the memory of its image.
  void start(const LoweredEntry& entry, const std::byte* partner);

  /// Makes output row y, which must lie in the box, of channel c (or of all).
  void make_row(std::int32_t c, std::int32_t y);

  /// Writes `columns` pixels of the row made last, from box column x on: of channel c, normalised,
  /// or of all channels interleaved, not normalised.
  void write(std::int32_t c, std::int64_t x, std::int64_t columns, const Affine* affine,
             float* out) const;

 private:
  const MixJob& job_;
  const LineOps& ops_;
  const WindowReader& windows_;
  ImageSize size_;
  Channels channels_;
  const LoweredEntry* entry_ = nullptr;
  const std::byte* partner_ = nullptr;
  std::int64_t ahead_ = 0;  // bytes from the rows read to those of a later row
  // Working memory.
  std::byte* room_a_;
  std::byte* room_b_;
  float* line_;          // rows interpolated, as wide as the image
  float* planes_;        // the same, one plane per channel
  float* row_;           // planes as wide as the box
  std::int32_t* first_;  // where the box's columns read: this column and, weighted, the next
  float* fraction_;
};

}  // namespace medley
