#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "kernels/pixel.h"
#include "medley/types.h"

namespace medley {

/// The rows with weights of their own: those of a box, of the support of a Gaussian, or all. They
/// may wrap around.
struct Region {
  std::int32_t top = 0;
  std::int32_t height = 0;
  Weights outside{};      // of all other rows
  bool needs_own = true;  // which images rows of the region show
  bool needs_partner = true;
  std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();  // mixed in one go
};

/// Rows that are mixed in one go: all in the region, or all outside.
struct Run {
  std::int32_t y;
  std::int32_t rows;
  bool inside;
  bool needs_own;
  bool needs_partner;
};

/// Cuts rows [y0, y1) of an image of `height` rows at the edges of the region, into runs of `most`
/// rows at most. `runs` has room for y1 - y0; the runs are its first ones.
[[nodiscard]] std::span<const Run> cut_runs(const Region& region, std::int32_t height,
                                            std::int32_t y0, std::int32_t y1, std::int64_t most,
                                            Run* runs);

}  // namespace medley
