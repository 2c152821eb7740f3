#pragma once

#include "medley/policy.h"

namespace medley {

/// Longest side of an image that plans are made for.
inline constexpr std::int32_t kMaxSide = 1 << 15;

/// Throws InvalidArgument unless the options that all methods have are valid and fit each other.
void check_policy(const MixPolicy& policy);

}  // namespace medley
