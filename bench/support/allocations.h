#pragma once

#include <cstdint>

namespace medley::bench {

// The bench program replaces operator new, so every allocation of the library is seen: it has no
// other way to get memory. Thread stacks do not count.

/// Bytes allocated and not yet freed.
[[nodiscard]] std::int64_t allocated_bytes() noexcept;

/// Forgets the peak: it restarts at what is allocated now.
void reset_allocation_peak() noexcept;

/// The most bytes alive at once since `reset_allocation_peak`.
[[nodiscard]] std::int64_t allocation_peak() noexcept;

/// How many blocks were allocated since the program began.
[[nodiscard]] std::int64_t allocation_count() noexcept;

}  // namespace medley::bench
