#pragma once

#include <cstddef>
#include <optional>

#include "medley/plan.h"

namespace medley {

/// Throws InvalidArgument if the mask does not fit the size or the fields of the plan.
void validate_mask(const MixPlan& plan, const Mask& mask);
void validate_mask(const MixPlan& plan, const TermMask& mask);

/// Throws InvalidArgument for an entry whose mask is still to be decided, which has the number `b`
/// in its plan if that is known.
[[noreturn]] void fail_open(std::optional<std::size_t> b = {});
void require_solved(const MixPlan& plan);

}  // namespace medley
