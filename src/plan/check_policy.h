#pragma once

#include <cstdint>

#include "medley/policy.h"

namespace medley {

/// Longest side of an image that plans are made for.
inline constexpr std::int32_t kMaxSide = 1 << 15;

/// Throws InvalidArgument if a field is out of range, or does not fit the method or another field.
void check_policy(const MixPolicy& policy, const MethodInfo& info);

}  // namespace medley
