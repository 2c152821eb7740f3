#pragma once

#include <cstdint>

namespace medley::bench {

// The yardstick: how fast this machine moves bytes with `threads` threads, each taking one
// contiguous part. Sizes are multiples of 64 * threads, pointers aligned to 64.

void copy_with_memcpy(const void* from, void* to, std::int64_t bytes, int threads);

/// Stores past the caches, loads prefetched a few lines ahead.
void copy_with_streaming(const void* from, void* to, std::int64_t bytes, int threads);

/// Writes zeros past the caches.
void fill_with_streaming(void* to, std::int64_t bytes, int threads);

/// Only reads.
void read_all(const void* from, std::int64_t bytes, int threads);

}  // namespace medley::bench
