#include "support/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace {

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};
std::atomic<std::int64_t> blocks{0};

void count(void* block) noexcept {
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(block));
  blocks.fetch_add(1);
  const std::int64_t now = live.fetch_add(bytes) + bytes;
  std::int64_t seen = peak.load();
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* block = nullptr;
  if (posix_memalign(&block, alignment, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
  count(block);
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  live.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { release(block); }

namespace medley::bench {

std::int64_t allocated_bytes() noexcept { return live.load(); }
void reset_allocation_peak() noexcept { peak.store(live.load()); }
std::int64_t allocation_peak() noexcept { return peak.load(); }
std::int64_t allocation_count() noexcept { return blocks.load(); }

}  // namespace medley::bench
