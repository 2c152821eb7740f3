#include "kernels/cpu/source_rows.h"

namespace medley {

SourceRows::SourceRows(const CpuCall& call, Scratch& scratch) : call_(call) {
  const std::int64_t values = call.group * call.width * (call.in_nhwc ? call.channels : 1);
  const std::size_t sources = call.plan.terms.empty() ? 2 : kRooms;
  for (std::size_t i = 0; i < sources; ++i) {
    rooms_[i] = scratch.take<std::byte>(values * call.in_size);
    if (call.in_nhwc && !call.out_nhwc) {
      plane_rooms_[i] = scratch.take<std::byte>(values * call.in_size);
    }
  }
}

const std::byte* SourceRows::planes(const std::byte* base, const LoweredSource& source,
                                    std::int32_t y, std::int64_t rows, std::int32_t room) const {
  std::byte* to = plane_rooms_[static_cast<std::size_t>(room)];
  call_.lines.deinterleave(window(base, source, 0, y, rows, room), call_.in_size, call_.channels,
                           to, rows * call_.width);
  return to;
}

}  // namespace medley
