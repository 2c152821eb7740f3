#pragma once

#include <cstdint>

#include "medley/types.h"

namespace medley {

/// Normalisation of a row: none, the same for all values, or value * scale[i] + bias[i].
struct RowAffine {
  const float* scale = nullptr;
  const float* bias = nullptr;
  bool uniform = false;

  /// The row from its i-th value on.
  [[nodiscard]] RowAffine from(std::int64_t i) const noexcept {
    if (scale == nullptr || uniform) return *this;
    return {scale + i, bias + i, false};
  }
};

/// Loops over contiguous pixels, compiled for each instruction set. `a`, `b` are of the input type,
/// `out` of the output type; n >= 0. All give the bits of kernels/pixel.h.
struct RowOps {
  void (*convert)(const void* a, RowAffine affine, void* out, std::int64_t n);
  /// a * wa + b * wb; neither weight is 0.
  void (*blend_flat)(const void* a, const void* b, float wa, float wb, RowAffine affine, void* out,
                     std::int64_t n);
  /// a * m[i] + b * (1 - m[i]); a weight of 0 leaves its image out.
  void (*blend_mask)(const void* a, const void* b, const float* m, RowAffine affine, void* out,
                     std::int64_t n);
};

/// Loops that do not depend on the output type.
struct CommonOps {
  /// sum[i] = weight * a[i], or sum[i] + weight * a[i] if `add`.
  void (*accumulate[4])(const void* a, float weight, bool add, float* sum, std::int64_t n);
  /// m[i] = row * column[i]
  void (*scale_row)(float row, const float* column, float* m, std::int64_t n);
  /// out[i] = interpolate(a[i], b[i], fraction)
  void (*interpolate_rows)(const float* a, const float* b, float fraction, float* out,
                           std::int64_t n);
  /// out[i] = interpolate(a[first[i]], a[second[i]], fraction[i])
  void (*interpolate_columns)(const float* a, const std::int32_t* first, const std::int32_t* second,
                              const float* fraction, float* out, std::int64_t n);
  /// out[c*n + i] = in[i*channels + c]; elements of `size` bytes (1, 2 or 4).
  void (*deinterleave)(const void* in, std::int64_t size, std::int64_t channels, void* out,
                       std::int64_t n);
  /// The inverse: out[i*channels + c] = in[c*n + i].
  void (*interleave)(const void* in, std::int64_t size, std::int64_t channels, void* out,
                     std::int64_t n);
  /// out[i*channels + c] = m[i]
  void (*repeat)(const float* m, std::int64_t channels, float* out, std::int64_t n);
  /// Copies whole 64-byte lines past the caches; both pointers 64-byte aligned.
  void (*stream_lines)(const void* from, void* to, std::int64_t lines);
  /// Orders streamed lines before later stores of this thread.
  void (*stream_fence)();
};

[[nodiscard]] const RowOps& row_ops(DType in, DType out);
[[nodiscard]] const CommonOps& common_ops();

}  // namespace medley
