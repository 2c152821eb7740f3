#pragma once

#include <string_view>

namespace medley::cli {

/// Bytes that this process may have: what nobody uses, or less if it is limited (ulimit -v).
[[nodiscard]] double memory_limit();

/// Throws Error if `what` needs more, which is better said before minutes of work than after them:
/// "masks of … need about 42 GB of memory, and 23 GB are free".
void require_memory(double bytes, std::string_view what);

}  // namespace medley::cli
