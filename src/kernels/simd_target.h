#pragma once

#include <string_view>

namespace medley {

/// Restricts the backend `cpu` to one instruction set of `simd_targets()`, or lifts that with "".
/// For tests and comparisons; not to be called while another thread mixes. Throws InvalidArgument
/// for a name that is none of them.
void set_simd_target(std::string_view name);

}  // namespace medley
