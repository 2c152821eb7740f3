#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/line_ops.h"
#include "kernels/cpu/resample_ops.h"
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

  Shrinker(const MixJob& job, const LineOps& lines, const WindowReader& windows, ImageSize size,
           Channels channels, Scratch& scratch);

  /// What follows is about this entry; `partner` is the memory of its image.
  void start(const LoweredEntry& entry, const std::byte* partner);

  /// Whether `paste` can be used: rows of one channel that show the image itself outside the box
  /// and nothing but the shrunk partner in it.
  [[nodiscard]] bool pastes() const noexcept { return pastes_; }

  /// Asks for what rows [y0, y1) of an output will read of its partner's channel c.
  void touch(const LoweredEntry& entry, const std::byte* partner, std::int32_t c, std::int32_t y0,
             std::int32_t y1);

  /// Makes output row y, which must lie in the box, of channel c (or of all).
  void make_row(std::int32_t c, std::int32_t y);

  /// Writes a row of n values of channel c: `own` with the row made last in its box.
  void paste(std::int32_t c, const std::byte* own, const RowStyle& style, float* out,
             std::int64_t n) const;

  /// Writes `columns` pixels of the row made last, from the left of the box on, or from where it
  /// wraps around: of channel c, or of all channels interleaved. Not if the entry pastes.
  void write(std::int32_t c, bool wrapped, std::int64_t columns, float* out) const;

 private:
  /// The last row of a partner that was asked for.
  struct Touched {
    const LoweredEntry* entry = nullptr;
    std::int32_t channel = 0;
    std::int32_t row = -1;
  };

  [[nodiscard]] const std::byte* partner_row(std::int32_t c, std::int32_t row, std::byte* room);
  [[nodiscard]] ShrunkSource source(std::int32_t c) const;

  const MixJob& job_;
  const LineOps& lines_;
  const ResampleOps& ops_;
  const WindowReader& windows_;
  ImageSize size_;
  Channels channels_;
  const LoweredEntry* entry_ = nullptr;
  const std::byte* partner_ = nullptr;
  bool contiguous_ = false;           // rows of the partner lie in memory one after the other …
  const std::byte* plane_ = nullptr;  // … from here on, for this channel
  std::int32_t plane_channel_ = -1;
  Touched touched_;
  bool pastes_ = false;
  ShrunkSource made_;         // the row made last
  std::int64_t wrapped_ = 0;  // the slot of the column at which the box wraps around
  ColumnTaps taps_;
  // Working memory.
  std::byte* room_a_;
  std::byte* room_b_;
  float* line_;    // rows interpolated, as wide as the image
  float* planes_;  // the same, one plane per channel
  float* row_;     // planes as wide as the box
  Tap* row_taps_;  // where rows of the box read
};

}  // namespace medley
