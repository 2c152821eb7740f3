#pragma once

#include <cstdint>

namespace medley::bench {

// The yardstick: how fast this machine moves bytes with `threads` threads, each taking one
// contiguous part. Sizes are multiples of 64 * threads, pointers aligned to 64.

void copy_with_memcpy(const void* from, void* to, std::int64_t bytes, int threads);

/// Stores past the caches, loads prefetched a few lines ahead.
void copy_with_streaming(const void* from, void* to, std::int64_t bytes, int threads);

/// What is written where nothing is copied: some processors are several times as fast with zeros.
constexpr std::uint8_t kFill = 0x5A;

/// Only writes, past the caches.
void fill_with_streaming(void* to, std::int64_t bytes, int threads);
/// Only writes, as the C library thinks best.
void fill_with_memset(void* to, std::int64_t bytes, int threads);

/// Only reads.
void read_all(const void* from, std::int64_t bytes, int threads);

}  // namespace medley::bench
