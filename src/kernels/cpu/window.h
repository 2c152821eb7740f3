#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/line_ops.h"
#include "kernels/cpu/scratch.h"
#include "kernels/lower.h"

namespace medley {

/// Rows of a source's window: shifted, mirrored, padded as the plan says. Pixels are those of the
/// input: one channel of it if it is planar, else all channels.
class WindowReader {
 public:
  /// Windows have the size of the plan's outputs. `job`, `ops`, `plan` and the pieces of `scratch`
  /// must stay alive.
  WindowReader(const MixJob& job, const LineOps& ops, const LoweredPlan& plan, Scratch& scratch);

  /// Rows [y, y + rows) of the window on channel c (ignored for interleaved inputs), one after the
  /// other without gaps: a pointer into the image if they lie so there, else copied to `room`.
  /// `image` is the memory of the source's image.
  [[nodiscard]] const std::byte* rows(const std::byte* image, const LoweredSource& source,
                                      std::int32_t c, std::int32_t y, std::int64_t rows,
                                      std::byte* room) const;

  /// Asks for row y of the window to come into the cache, if it lies in the image.
  void touch_row(const std::byte* image, const LoweredSource& source, std::int32_t c,
                 std::int32_t y) const noexcept;

  /// Whether rows [y0, y1) of the window lie in the image as `rows` gives them.
  [[nodiscard]] bool contiguous(const LoweredSource& source, std::int32_t y0,
                                std::int32_t y1) const noexcept;

  /// Bytes of one row of a window.
  [[nodiscard]] std::int64_t row_bytes() const noexcept { return width_ * pixel_; }

 private:
  /// Columns of a window and where they go, as rows of a window.
  struct Columns {
    std::int32_t begin;
    std::int32_t count;
    std::byte* to;
  };
  /// Rows [y, y + rows) of the window's columns, those of an image or padding.
  void copy_window(const std::byte* plane, const LoweredSource& source, std::int64_t y,
                   std::int64_t rows, const Columns& columns) const;
  void copy_rows(const std::byte* from, const LoweredSource& source, std::int64_t rows,
                 const Columns& columns) const;
  /// `rows` where tiles are moved.
  [[nodiscard]] const std::byte* moved_rows(const std::byte* image, const LoweredSource& source,
                                            std::int32_t c, std::int32_t y, std::int64_t rows,
                                            std::byte* room) const;
  [[nodiscard]] bool is_inside(const LoweredSource& source) const noexcept;
  void copy_tile(const std::byte* from, std::byte* to, std::int64_t rows, std::int64_t bytes) const;
  [[nodiscard]] const std::byte* plane_of(const std::byte* image, std::int32_t c) const noexcept;
  void pad_pixels(std::int64_t begin, std::int64_t end, std::byte* row) const;

  const MixJob& job_;
  const LineOps& ops_;
  const LoweredPlan& plan_;
  std::int32_t width_;
  std::int64_t pixel_;   // bytes
  std::int64_t stride_;  // bytes from row to row of the input
  bool dense_;           // rows of the input lie together and have the window's width
  std::byte* padding_;   // one pixel of it
};

}  // namespace medley
