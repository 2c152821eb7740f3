#pragma once

#include "medley/policy.h"

namespace medley::theory {

/// Throws InvalidArgument for a method of more than two images, which has no effective mask.
void check_has_effective_mask(const MixPolicy& policy);

}  // namespace medley::theory
