#pragma once

#include <cstdint>

#include "kernels/pixel.h"
#include "medley/types.h"

namespace medley {

/// Normalization of a row: none, the same for all values, or value * scale[i] + bias[i].
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

/// How a loop over pixels reads and writes.
struct RowStyle {
  RowAffine affine;
  /// Inputs are prefetched this many bytes ahead; 0: they are not. A whole number of rows, so that
  /// the columns of a box are prefetched where they will be needed.
  std::int64_t ahead = 0;
  /// What a box and its surroundings copy is prefetched before that, too, this many bytes ahead,
  /// not into the nearest cache. A whole number of rows; 0: it is not.
  std::int64_t far = 0;
  /// Stores go past the caches where they fill whole 64-byte lines. The output must not be an
  /// input.
  bool stream = false;
};

/// Rows with a box: planes of `height` rows of n values, in which the values [begin, end) of the
/// rows [top, bottom) have other weights than the rest.
struct BoxRows {
  std::int64_t n;
  std::int64_t height;
  std::int64_t top;
  std::int64_t bottom;
  std::int64_t begin;
  std::int64_t end;
  Weights inside;
  Weights outside;
};

/// Rows of a separable mask: row_factors[row] * column[i]. It has no say in values that lie outside
/// [center_begin - reach[row], center_end + reach[row]); a negative reach means in all. `normal`:
/// all others are normal numbers. `column` may be read up to a vector before and behind the row.
struct GaussianRows {
  const float* row_factors;
  const float* column;
  float smallest;  // of the column
  const std::int32_t* reach;
  std::int64_t center_begin;
  std::int64_t center_end;
  bool normal;
};

/// The same pixels of three channels, each on its own.
struct ThreePlanes {
  const void* a[3];
  const void* b[3];
  RowAffine affine[3];  // uniform, all or none
  float* out[3];
};

/// Mixing loops over contiguous pixels, compiled for each instruction set. `a`, `b` and `sources`
/// are of the input type; all counts are >= 0. `out` may be `a` or `b`; other overlaps are not
/// allowed. All give the bits of kernels/pixel.h before rounding to the output type.
struct RowOps {
  void (*convert)(const void* a, const RowStyle& style, float* out, std::int64_t n);
  /// a * own + b * partner; neither weight is 0.
  void (*blend_flat)(const void* a, const void* b, Weights weights, const RowStyle& style,
                     float* out, std::int64_t n);
  /// blend_flat rounded to another type, by it; null where there is none. Weights may be 0; a
  /// normalization is uniform.
  void (*flat_rounded[4])(const void* a, const void* b, Weights weights, const RowStyle& style,
                          void* out, std::int64_t n);
  /// blend_flat of n pixels of three channels, interleaved in `out[0]`; of the style, `affine` is
  /// that of the planes. Weights may be 0. The output is no input.
  void (*flat_interleaved)(const ThreePlanes& planes, Weights weights, const RowStyle& style,
                           std::int64_t n);
  /// a * m[i] + b * (1 - m[i]); a weight of 0 leaves its image out.
  void (*blend_mask)(const void* a, const void* b, const float* m, const RowStyle& style,
                     float* out, std::int64_t n);
  /// blend_mask of three channels with one mask, streamed: every `out` is on a 64-byte line and
  /// gets whole lines. It must not be an input.
  void (*blend_mask_planes)(const ThreePlanes& planes, const float* m, std::int64_t ahead,
                            std::int64_t n);
  /// `rows` rows of n values, at least a vector: blend_mask with masks[row], which may be read up
  /// to a vector before and behind the row.
  void (*blend_mask_rows)(const void* a, const void* b, const float* const* masks,
                          const RowStyle& style, float* out, std::int64_t rows, std::int64_t n);
  /// `rows` rows of n values: blend_mask with the mask of each row. Where the mask has no say `a`
  /// is not read, except near the edges of that.
  void (*blend_gaussian)(const void* a, const void* b, const GaussianRows& mask,
                         const RowStyle& style, float* out, std::int64_t rows, std::int64_t n);
  /// `rows` rows, whole planes. An image is not read where its weight is 0, except near the edges
  /// of the box and in narrow rows.
  void (*blend_box)(const void* a, const void* b, const BoxRows& box, const RowStyle& style,
                    float* out, std::int64_t rows);
  /// base[i] + weights[0] * sources[0][i] + …, from left to right; without `base` if it is null.
  /// count > 0.
  void (*sum)(const void* const* sources, const float* weights, std::int32_t count,
              const float* base, const RowStyle& style, float* out, std::int64_t n);
  /// The same with masks[k][i] as weights: what has a weight of 0 is left out, and 0 where all
  /// have.
  void (*masked_sum)(const void* const* sources, const float* const* masks, std::int32_t count,
                     const RowStyle& style, float* out, std::int64_t n);
};

[[nodiscard]] const RowOps& row_ops(DType in);

}  // namespace medley
