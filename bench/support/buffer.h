#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace medley::bench {

enum class Pages : std::uint8_t { huge, small };

/// Memory for a batch, touched before use: in huge pages where the system has them, or in those of
/// 4 KiB that programs get when they do not ask. All contenders work in such buffers.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes, Pages pages = Pages::huge);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Gives the pages back: the next access to each takes a page fault.
  void forget() const noexcept;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size() const noexcept { return bytes_; }

  template <typename T>
  [[nodiscard]] std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(bytes_) / sizeof(T)};
  }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Pixel values that repeat nowhere near: floats in [-2, 2), or bytes.
void fill_pixels(std::span<float> values);
void fill_pixels(std::span<std::uint8_t> values);

}  // namespace medley::bench
