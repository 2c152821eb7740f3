#pragma once

#include <cstdint>

// Memory as caches take it, a line at a time. The functions are always inlined: compilers drop
// calls that do nothing but ask for memory.

namespace medley {

inline constexpr std::int64_t kLineBytes = 64;

/// Values of T in a line.
template <typename T>
inline constexpr std::int64_t kLineValues = kLineBytes / static_cast<std::int64_t>(sizeof(T));

/// Asks for the line `ahead` bytes further on, into the nearest cache.
[[gnu::always_inline]] inline void prefetch(const void* p, std::int64_t ahead = 0) {
  __builtin_prefetch(static_cast<const char*>(p) + ahead, 0, 3);
}

/// The same for what is needed much later: not into the nearest cache.
[[gnu::always_inline]] inline void prefetch_far(const void* p, std::int64_t ahead = 0) {
  __builtin_prefetch(static_cast<const char*>(p) + ahead, 0, 2);
}

}  // namespace medley
