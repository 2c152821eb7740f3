#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace medley {

/// Working memory of one thread, handed out in pieces. Grows in blocks and never moves, so pieces
/// stay valid; `reset` makes all of it free again.
class Scratch {
 public:
  static constexpr std::size_t kAlignment = 64;

  template <typename T>
  [[nodiscard]] T* take(std::int64_t count) {
    // A vector's worth of slack lets loops read past the end of a row.
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 2 * kAlignment - 1) /
                              kAlignment * kAlignment;
    if (used_ + bytes > capacity_) {
      capacity_ = bytes > kBlock ? bytes : kBlock;
      used_ = 0;
      blocks_.emplace_back(
          static_cast<std::byte*>(::operator new[](capacity_, std::align_val_t{kAlignment})));
    }
    std::byte* piece = blocks_.back().get() + used_;
    used_ += bytes;
    return reinterpret_cast<T*>(piece);
  }

  void reset() {
    if (blocks_.size() > 1) {
      blocks_.clear();
      capacity_ = 0;
    }
    used_ = 0;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 17;

  struct Free {
    void operator()(std::byte* block) const {
      ::operator delete[](block, std::align_val_t{kAlignment});
    }
  };
  std::vector<std::unique_ptr<std::byte[], Free>> blocks_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

}  // namespace medley
