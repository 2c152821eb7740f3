#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/call.h"
#include "kernels/cpu/scratch.h"

namespace medley {

/// Rows of the images that enter an output, in the order in which they are mixed.
class SourceRows {
 public:
  /// Sources whose rows are there at the same time.
  static constexpr std::int32_t kRooms = 4;

  SourceRows(const CpuCall& call, Scratch& scratch);

  /// Rows [y, y + rows) of channel c, or of all channels interleaved, of the image at `base`. They
  /// stay until `room` is used again.
  [[nodiscard]] const std::byte* window(const std::byte* base, const LoweredSource& source,
                                        std::int32_t c, std::int32_t y, std::int64_t rows,
                                        std::int32_t room) const {
    return call_.windows.rows(base, source, c, y, rows, rooms_[static_cast<std::size_t>(room)]);
  }

  /// Where rows that nobody reads are said to be.
  [[nodiscard]] const std::byte* nothing() const noexcept { return rooms_[0]; }

  /// The same of an interleaved image as one plane per channel.
  const std::byte* planes(const std::byte* base, const LoweredSource& source, std::int32_t y,
                          std::int64_t rows, std::int32_t room) const;

 private:
  const CpuCall& call_;
  std::array<std::byte*, kRooms> rooms_{};
  std::array<std::byte*, kRooms> plane_rooms_{};
};

}  // namespace medley
