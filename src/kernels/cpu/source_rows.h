#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/call.h"
#include "kernels/cpu/scratch.h"

namespace medley {

/// Rows of the images that enter an output, in the order in which they are mixed.
class SourceRows {
 public:
  /// Sources whose rows are there at the same time, at least; all terms with masks are.
  static constexpr std::int32_t kRooms = 4;

  SourceRows(const CpuCall& call, Scratch& scratch);

  /// Rows [y, y + rows) of channel c, or of all channels interleaved, of the image at `base`. They
  /// stay until `room` is used again.
  [[nodiscard]] const std::byte* window(const std::byte* base, const LoweredSource& source,
                                        std::int32_t c, std::int32_t y, std::int64_t rows,
                                        std::int32_t room) const {
    return call_.windows.rows(base, source, c, y, rows, rooms_[room]);
  }

  /// Where rows that nobody reads are said to be.
  [[nodiscard]] const std::byte* nothing() const noexcept { return rooms_[0]; }

  /// The same of an interleaved image as one plane per channel.
  const std::byte* planes(const std::byte* base, const LoweredSource& source, std::int32_t y,
                          std::int64_t rows, std::int32_t room) const;

  /// Either of them: channel c of the rows as they are mixed.
  [[nodiscard]] const std::byte* term(const std::byte* base, const LoweredSource& source,
                                      std::int32_t c, std::int32_t y, std::int64_t rows,
                                      std::int32_t room) const {
    if (!call_.in_nhwc || call_.out_nhwc) return window(base, source, c, y, rows, room);
    return planes(base, source, y, rows, room) + c * rows * call_.row * call_.in_size;
  }

 private:
  const CpuCall& call_;
  std::byte** rooms_;
  std::byte** plane_rooms_;
};

}  // namespace medley
