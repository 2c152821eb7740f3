#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
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
      add_block(bytes > kBlock ? bytes : kBlock);
      total_ += capacity_;
    }
    std::byte* piece = blocks_.back().get() + used_;
    used_ += bytes;
    return reinterpret_cast<T*>(piece);
  }

  /// An object among the pieces. Nobody destroys it.
  template <typename T, typename... Args>
  [[nodiscard]] T& make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
    return *::new (static_cast<void*>(take<std::byte>(sizeof(T)))) T(std::forward<Args>(args)...);
  }

  /// What took several blocks will fit into one the next time.
  void reset() {
    if (blocks_.size() > 1) {
      blocks_.clear();
      add_block(total_);
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
  void add_block(std::size_t bytes) {
    blocks_.emplace_back(
        static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{kAlignment})));
    capacity_ = bytes;
    used_ = 0;
  }

  std::vector<std::unique_ptr<std::byte[], Free>> blocks_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  std::size_t total_ = 0;  // bytes of all blocks
};

}  // namespace medley
