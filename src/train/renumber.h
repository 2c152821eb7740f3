#pragma once

#include <cstdint>
#include <vector>

#include "medley/plan.h"

namespace medley {

/// Lets a plan count its images from 0, own images first, each in the order in which they appear.
/// Returns their former numbers, counted from the plan's base, which becomes 0.
[[nodiscard]] std::vector<std::int64_t> renumber(MixPlan& plan);

}  // namespace medley
