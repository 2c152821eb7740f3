#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lower.h"

namespace medley {

/// An order of the outputs in which the partner of one is the own image of the next, as far as the
/// plan allows: that image is then still in the cache.
[[nodiscard]] std::vector<std::int64_t> chained_order(const LoweredPlan& plan);

/// One output of an in-place mix.
struct InPlaceStep {
  std::int64_t entry;
  std::int64_t save_for;  // keep what this output reads of the own image, which will change; or -1
  bool partner_saved;     // the partner is what was kept
};

/// An order in which outputs may overwrite their own images: every image is read by those that need
/// it before it changes. Partners form chains that end in cycles; a cycle needs a copy of one
/// image, and only one copy is alive at a time.
[[nodiscard]] std::vector<InPlaceStep> in_place_order(const LoweredPlan& plan);

}  // namespace medley
