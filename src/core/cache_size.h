#pragma once

#include <cstdint>

namespace medley {

/// Bytes of the last-level cache that the threads of one group of cores share; a guess where the
/// system does not say. Asks the system once.
[[nodiscard]] std::int64_t last_level_cache();

}  // namespace medley
