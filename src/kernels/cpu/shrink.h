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

  /// What follows is about rows [y0, y1) of this entry; `partner` is the memory of its image.
  void start(const LoweredEntry& entry, const std::byte* partner, std::int32_t y0, std::int32_t y1);

  /// Whether `paste` can be used: rows of one channel that show the image itself outside the box
  /// and nothing but the shrunk partner in it.
  [[nodiscard]] bool pastes() const noexcept { return pastes_; }

  /// Whether `paste_rows` can be used, if the image itself lies in memory without gaps.
  [[nodiscard]] bool pastes_rows() const noexcept {
    return pastes_ && contiguous_ && channels_ == Channels::one && size_.width % ops_.vector == 0;
  }

  /// While rows [y0, y1) are written, what the same rows of an entry read of its partner's channel
  /// c is asked for: memory then answers in time, and is asked for little at a time. `whole`: the
  /// rows between those will be needed soon, too.
  void look_ahead(const LoweredEntry& entry, const std::byte* partner, std::int32_t c, bool whole);
  void look_nowhere() noexcept { later_entry_ = nullptr; }

  /// Asks for what belongs to rows [y, y + rows).
  void touch(std::int32_t y, std::int32_t rows) const;

  /// Writes rows [y, y + rows) of channel c, all in the box or all outside, and asks for what
  /// belongs to them. `own`: the same rows of the image.
  void paste_rows(std::int32_t c, std::int32_t y, std::int32_t rows, const std::byte* own,
                  const RowStyle& style, float* out);

  /// Makes output row y, which must lie in the box, of channel c (or of all).
  void make_row(std::int32_t c, std::int32_t y);

  /// Writes a row of n values of channel c: `own` with the row made last in its box.
  void paste(std::int32_t c, const std::byte* own, const RowStyle& style, float* out,
             std::int64_t n) const;

  /// Writes `columns` pixels of the row made last, from the left of the box on, or from where it
  /// wraps around: of channel c, or of all channels interleaved. Not if the entry pastes.
  void write(std::int32_t c, bool wrapped, std::int64_t columns, float* out) const;

 private:
  [[nodiscard]] const std::byte* partner_row(std::int32_t c, std::int32_t row, std::byte* room);
  [[nodiscard]] ShrunkSource source(std::int32_t c) const;
  [[nodiscard]] ShrunkSpan span() const;

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
  std::int32_t y0_ = 0;
  std::int32_t y1_ = 0;
  const LoweredEntry* later_entry_ = nullptr;  // whose partner is asked for, or null
  const std::byte* later_image_ = nullptr;
  std::int32_t later_channel_ = 0;
  LaterRows later_;
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
