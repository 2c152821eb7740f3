#pragma once

#include <cstdint>

#include "kernels/pixel.h"
#include "medley/types.h"

namespace medley {

/// Rows of pixels to be copied: `rows` rows, `pixels` pixels of `size` bytes each, rows a number of
/// bytes apart.
struct PixelBlock {
  const void* from;
  std::int64_t from_stride;
  void* to;
  std::int64_t to_stride;
  std::int64_t rows;
  std::int64_t pixels;
  std::int64_t size;
};

/// Channels of n elements of `size` bytes (1, 2 or 4), each `stride` elements after the one before.
struct Planes {
  const void* from;
  std::int64_t stride;
  std::int64_t size;
  std::int64_t channels;
  std::int64_t n;
};

/// Where values between two are read, and how far they are from the first; no fraction: at it.
struct RowTaps {
  const std::int32_t* first;
  const std::int32_t* second;
  const float* fractions;
};

/// Loops around the mixing itself, compiled for each instruction set.
struct LineOps {
  void (*copy)(const PixelBlock& block);
  /// Each row last pixel first.
  void (*mirror)(const PixelBlock& block);
  /// out[c*n + i] = in[i*channels + c]; elements of `size` bytes (1, 2 or 4).
  void (*deinterleave)(const void* in, std::int64_t size, std::int64_t channels, void* out,
                       std::int64_t n);
  /// The inverse: out[i*channels + c] = element i of channel c. `stream` here and below: whole
  /// 64-byte lines go past the caches; the output must not be an input.
  void (*interleave)(const Planes& planes, void* out, bool stream);
  /// out[i*channels + c] = m[i]
  void (*repeat)(const float* m, std::int64_t channels, float* out, std::int64_t n);
  /// out[i] = interpolate(values[first[i]], values[second[i]], fractions[i]) for i in [0, n), and a
  /// few more: taps and `out` have room for n + 16.
  void (*resample)(const float* values, const RowTaps& taps, float* out, std::int64_t n);
  /// out[i] = first[i] * (1 - fraction) + second[i] * fraction; of all as many more.
  void (*between)(const float* first, const float* second, float fraction, float* out,
                  std::int64_t n);
  /// factors[d] = gaussian_factor_f32(scale, d) for d in [0, n), and a few more: `factors` has room
  /// for n + 64.
  void (*gaussian_factors)(double scale, float* factors, std::int64_t n);
  /// Rounds to the output type.
  void (*round[4])(const float* values, void* out, std::int64_t n, bool stream);
  void (*copy_bytes)(const void* from, void* to, std::int64_t n, bool stream);
  /// Orders streamed lines before later stores of this thread.
  void (*stream_fence)();
};

[[nodiscard]] const LineOps& line_ops();

}  // namespace medley
