#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/row_ops.h"

namespace medley {

/// Writes consecutive pieces of output. Cached: a piece is made where it belongs. Streaming: pieces
/// are gathered in a small buffer that leaves in whole cache lines, past the caches.
class StreamWriter {
 public:
  /// Streams if `buffer` is given: 64-byte aligned, `capacity` bytes, at least 128 + the largest
  /// piece.
  explicit StreamWriter(const CommonOps& ops, std::byte* buffer = nullptr,
                        std::size_t capacity = 0) noexcept
      : ops_(&ops), buffer_(buffer), capacity_(capacity) {}

  /// The next piece goes to `target`.
  void start(std::byte* target) noexcept {
    target_ = target;
    if (buffer_ == nullptr) return;
    const auto phase = reinterpret_cast<std::uintptr_t>(target) % kLine;
    target_ = target - phase;
    begin_ = end_ = phase;
  }

  /// Where to make a piece of that many bytes.
  [[nodiscard]] std::byte* reserve(std::size_t bytes) noexcept {
    if (buffer_ == nullptr) return target_;
    if (end_ + bytes > capacity_) flush_lines();
    return buffer_ + end_;
  }

  /// The piece is made.
  void commit(std::size_t bytes) noexcept {
    if (buffer_ == nullptr) {
      target_ += bytes;
    } else {
      end_ += bytes;
    }
  }

  /// Everything is to be in place (after a fence, for other threads).
  void finish() noexcept {
    if (buffer_ == nullptr) return;
    flush_lines();
    std::memcpy(target_ + begin_, buffer_ + begin_, end_ - begin_);
    begin_ = end_;
  }

 private:
  static constexpr std::size_t kLine = 64;

  /// Sends all whole lines; a line that began before `start` is completed by ordinary stores.
  void flush_lines() noexcept {
    std::size_t at = 0;
    if (begin_ > 0 && end_ >= kLine) {
      std::memcpy(target_ + begin_, buffer_ + begin_, kLine - begin_);
      at = kLine;
    } else if (begin_ > 0) {
      return;
    }
    const std::size_t lines = (end_ - at) / kLine;
    ops_->stream_lines(buffer_ + at, target_ + at, static_cast<std::int64_t>(lines));
    at += lines * kLine;
    std::memmove(buffer_, buffer_ + at, end_ - at);
    target_ += at;
    begin_ = 0;
    end_ -= at;
  }

  const CommonOps* ops_;
  std::byte* buffer_;
  std::size_t capacity_;
  std::byte* target_ = nullptr;
  std::size_t begin_ = 0;  // first byte of the buffer that is ours
  std::size_t end_ = 0;
};

}  // namespace medley
