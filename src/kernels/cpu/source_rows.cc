#include "kernels/cpu/source_rows.h"

#include <algorithm>

namespace medley {

SourceRows::SourceRows(const CpuCall& call, Scratch& scratch) : call_(call) {
  const std::int64_t values = call.group * call.width * (call.in_nhwc ? call.channels : 1);
  std::int32_t sources = call.plan.terms.empty() ? 2 : kRooms;
  for (const LoweredEntry& e : call.plan.entries) {
    if (e.masked != 0) sources = std::max(sources, e.term_count);
  }
  rooms_ = scratch.take<std::byte*>(sources);
  plane_rooms_ = scratch.take<std::byte*>(sources);
  for (std::int32_t i = 0; i < sources; ++i) {
    rooms_[i] = scratch.take<std::byte>(values * call.in_size);
    if (call.in_nhwc && !call.out_nhwc) {
      plane_rooms_[i] = scratch.take<std::byte>(values * call.in_size);
    }
  }
}

const std::byte* SourceRows::planes(const std::byte* base, const LoweredSource& source,
                                    std::int32_t y, std::int64_t rows, std::int32_t room) const {
  std::byte* to = plane_rooms_[room];
  call_.lines.deinterleave(window(base, source, 0, y, rows, room), call_.in_size, call_.channels,
                           to, rows * call_.width);
  return to;
}

}  // namespace medley
