#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/line_ops.h"

namespace medley {

/// Where a piece of output is to be made.
struct Piece {
  std::byte* at;
  bool stream;  // its place is the output itself; store past the caches
};

/// Writes consecutive pieces of output. Cached: a piece is made where it belongs. Streaming: a
/// piece is streamed to where it belongs by whoever makes it, if they can; others gather in a small
/// buffer that leaves in whole lines, past the caches.
class StreamWriter {
 public:
  static constexpr std::size_t kLine = 64;
  /// A buffer is emptied when it has this much: little enough that loads go on meanwhile.
  static constexpr std::size_t kFlush = 1024;

  explicit StreamWriter(const LineOps& ops) noexcept : ops_(&ops) {}

  /// From now on streams. `buffer` is 64-byte aligned and has room for kFlush + kLine bytes and the
  /// largest piece.
  void stream_through(std::byte* buffer) noexcept { buffer_ = buffer; }

  /// The next piece goes to `target`.
  void start(std::byte* target) noexcept {
    target_ = target;
    if (buffer_ == nullptr) return;
    const auto phase = reinterpret_cast<std::uintptr_t>(target) % kLine;
    target_ = target - phase;
    begin_ = end_ = phase;
  }

  /// Where to make a piece. `may_stream`: who makes this one can stream it to where it belongs.
  [[nodiscard]] Piece reserve(bool may_stream) noexcept {
    if (buffer_ == nullptr) return {target_, false};
    streamed_ = may_stream;
    if (!streamed_) return {buffer_ + end_, false};
    finish();
    return {target_ + end_, true};
  }

  /// The piece is made.
  void commit(std::size_t bytes) noexcept {
    if (buffer_ == nullptr) {
      target_ += bytes;
      return;
    }
    if (streamed_) return start(target_ + end_ + bytes);
    end_ += bytes;
    if (end_ >= kFlush) flush_lines();
  }

  /// Everything is to be in place (after a fence, for other threads).
  void finish() noexcept {
    if (buffer_ == nullptr) return;
    flush_lines();
    std::memcpy(target_ + begin_, buffer_ + begin_, end_ - begin_);
    begin_ = end_;
  }

 private:
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
    if (at + lines == 0) return;
    ops_->stream_lines(buffer_ + at, target_ + at, static_cast<std::int64_t>(lines));
    at += lines * kLine;
    std::memcpy(buffer_, buffer_ + at, end_ - at);
    target_ += at;
    begin_ = 0;
    end_ -= at;
  }

  const LineOps* ops_;
  std::byte* buffer_ = nullptr;
  std::byte* target_ = nullptr;
  std::size_t begin_ = 0;  // first byte of the buffer that is ours
  std::size_t end_ = 0;
  bool streamed_ = false;
};

}  // namespace medley
