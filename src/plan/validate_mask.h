#pragma once

#include "medley/plan.h"

namespace medley {

/// Throws InvalidArgument if the mask does not fit the size or the fields of the plan.
void validate_mask(const MixPlan& plan, const Mask& mask);

}  // namespace medley
