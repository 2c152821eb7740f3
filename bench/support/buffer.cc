#include "support/buffer.h"

#include <cstring>
#include <new>

#include <sys/mman.h>

namespace medley::bench {
namespace {

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;

std::uint32_t scrambled(std::uint64_t i) {
  return static_cast<std::uint32_t>((i + 1) * 0x9E3779B97F4A7C15u >> 40);
}

}  // namespace

Buffer::Buffer(std::int64_t bytes, Pages pages) : bytes_(bytes) {
  mapped_ = static_cast<std::size_t>(bytes) + 2 * kHugePage;
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
  const std::uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  data_ = reinterpret_cast<std::byte*>(aligned);
  madvise(data_, static_cast<std::size_t>(bytes) + kHugePage,
          pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(data_, 0, static_cast<std::size_t>(bytes));
}

Buffer::~Buffer() { munmap(mapping_, mapped_); }

void Buffer::forget() const noexcept {
  madvise(data_, static_cast<std::size_t>(bytes_), MADV_DONTNEED);
}

void fill_pixels(std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(scrambled(i)) * 0x1p-22f - 2.0f;
  }
}

void fill_pixels(std::span<std::uint8_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint8_t>(scrambled(i) >> 16);
  }
}

}  // namespace medley::bench
