// Whole lines past the caches, made a piece at a time. Included once per target.

#if defined(MEDLEY_KERNELS_CPU_LINE_WRITER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MEDLEY_KERNELS_CPU_LINE_WRITER_INL_H_
#undef MEDLEY_KERNELS_CPU_LINE_WRITER_INL_H_
#else
#define MEDLEY_KERNELS_CPU_LINE_WRITER_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/cpu/cache_line.h"
#include "kernels/cpu/simd_pixel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace medley::HWY_NAMESPACE {
namespace {

HWY_INLINE void stream_lines(const std::uint8_t* from, std::uint8_t* to, std::int64_t lines) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < lines * kLineBytes; i += lanes) {
    hn::Stream(hn::LoadU(d, from + i), d, to + i);
  }
}

/// Streams bytes that are made a piece at a time to where they belong. The ends of the whole, parts
/// of lines, are stored in the ordinary way.
class LineWriter {
 public:
  /// Most bytes of a piece.
  static constexpr std::int64_t kPiece = 1536;

  explicit LineWriter(std::uint8_t* to)
      : begin_(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLineBytes)),
        end_(begin_),
        target_(to - begin_) {}

  /// Where to make the next piece.
  [[nodiscard]] HWY_INLINE std::uint8_t* room() { return buffer_ + end_; }
  /// It is made.
  HWY_INLINE void commit(std::int64_t bytes) {
    end_ += bytes;
    if (end_ >= kLineBytes) flush_lines();
  }
  HWY_INLINE void finish() const {
    std::memcpy(target_ + begin_, buffer_ + begin_, static_cast<std::size_t>(end_ - begin_));
  }

 private:
  HWY_INLINE void flush_lines() {
    std::int64_t at = 0;
    if (begin_ > 0) {
      at = kLineBytes;
      std::memcpy(target_ + begin_, buffer_ + begin_, static_cast<std::size_t>(at - begin_));
      begin_ = 0;
    }
    const std::int64_t lines = (end_ - at) / kLineBytes;
    stream_lines(buffer_ + at, target_ + at, lines);
    at += lines * kLineBytes;
    std::memcpy(buffer_, buffer_ + at, static_cast<std::size_t>(end_ - at));
    target_ += at;
    end_ -= at;
  }

  alignas(kLineBytes) std::uint8_t buffer_[kPiece + kLineBytes];
  std::int64_t begin_;  // first byte of the buffer that is ours
  std::int64_t end_;
  std::uint8_t* target_;  // of the buffer
};

/// make(first, count, to) makes some of n items of `size` bytes.
template <typename Make>
HWY_INLINE void put_items(std::int64_t n, std::int64_t size, void* out, bool stream,
                          const Make& make) {
  auto* to = static_cast<std::uint8_t*>(out);
  if (!stream || size > LineWriter::kPiece) return make(0, n, to);
  LineWriter writer(to);
  const std::int64_t step = LineWriter::kPiece / size;
  for (std::int64_t i = 0; i < n; i += step) {
    const std::int64_t count = std::min(step, n - i);
    make(i, count, writer.room());
    writer.commit(count * size);
  }
  writer.finish();
}

}  // namespace
}  // namespace medley::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MEDLEY_KERNELS_CPU_LINE_WRITER_INL_H_
