#include "kernels/cpu/runs.h"

#include <algorithm>
#include <cstddef>

namespace medley {

std::span<const Run> cut_runs(const Region& region, std::int32_t height, std::int32_t y0,
                              std::int32_t y1, std::int64_t most, Run* runs) {
  most = std::min(most, region.most_rows);
  std::size_t count = 0;
  for (std::int32_t y = y0; y < y1;) {
    const bool inside = in_interval(y, region.top, region.height, height);
    // The next edge below.
    std::int32_t end = y1;
    for (const std::int32_t edge :
         {region.top, region.top + region.height, region.top + region.height - height}) {
      if (edge > y) end = std::min(end, edge);
    }
    const auto rows = static_cast<std::int32_t>(std::min<std::int64_t>(most, end - y));
    runs[count++] = {y, rows, inside, inside ? region.needs_own : region.outside.own != 0,
                     inside ? region.needs_partner : region.outside.partner != 0};
    y += rows;
  }
  return {runs, count};
}

}  // namespace medley
