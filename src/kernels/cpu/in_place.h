#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lower.h"

namespace medley {

/// One output of an in-place mix.
struct InPlaceStep {
  std::int64_t entry;
  bool save;           // keep a copy of the own image before it is overwritten
  bool partner_saved;  // the partner is the copy
};

/// An order in which outputs may overwrite their own images: every image is read by those that need
/// it before it changes. Partners form chains that end in cycles; a cycle needs a copy of one
/// image, and only one copy is alive at a time.
[[nodiscard]] std::vector<InPlaceStep> in_place_order(const LoweredPlan& plan);

}  // namespace medley
