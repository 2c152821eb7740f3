#pragma once

#include <cstdint>

#include "kernels/cpu/row_ops.h"
#include "kernels/pixel.h"
#include "medley/types.h"

namespace medley {

/// Where the columns of a shrunk row read. Column i is interpolate(a[at], a[at + 1], fraction[i])
/// with at = offset[i], until `arrange` prepares the taps for the vectors of an instruction set.
struct ColumnTaps {
  /// Arrays have room for this many slots beyond those in use, a multiple of every vector.
  static constexpr std::int64_t kRoom = 64;
  /// Lines of floats have room for this many values beyond their width.
  static constexpr std::int64_t kLineRoom = 128;

  std::int64_t slots = 0;
  std::int64_t width = 0;  // values of a row that is read
  std::int32_t* offset = nullptr;
  float* fraction = nullptr;

  // Made by `arrange`, which also changes offset and fraction.
  float* rest = nullptr;         // 1 - fraction
  std::int32_t* base = nullptr;  // one per vector: where it reads
  std::uint32_t* byte = nullptr;
  bool weights_differ_from_0 = false;
  bool bytes = false;      // for two rows of bytes, else for a line of floats
  std::int32_t pairs = 0;  // of vectors of the line that hold what a vector reads; 0: too many
};

/// Rows that are shrunk into one, and the weight of the second; or one that was made of them.
struct ShrunkSource {
  const std::uint8_t* a = nullptr;
  const std::uint8_t* b = nullptr;
  float fraction = 0;
  const float* line = nullptr;  // readable for kLineRoom values beyond its width
};

/// Columns [left, right) of a row, and the slot that column 0 of the row would have.
struct ShrunkSpan {
  std::int64_t left;
  std::int64_t right;
  std::int64_t slot;
};

/// Bilinear resampling of rows, compiled for each instruction set.
struct ResampleOps {
  std::int64_t vector;  // values
  /// out[i] = interpolate(a[i], b[i], fraction), by input type.
  void (*interpolate_rows[4])(const void* a, const void* b, float fraction, float* out,
                              std::int64_t n);
  /// Positions must not fall from slot to slot of a vector. `bytes`: from two rows of bytes to
  /// columns in one go, if that is possible.
  void (*arrange)(ColumnTaps& taps, bool bytes);
  /// Slots [begin, begin + n); begin is a multiple of `vector`.
  void (*shrink)(const ShrunkSource& source, const ColumnTaps& taps, std::int64_t begin, float* out,
                 std::int64_t n);
  /// A row of n values of `own`, by its type, with shrunk columns in it; normalised alike. The
  /// span's slot is a multiple of `vector`.
  void (*paste[4])(const void* own, const ShrunkSource& source, const ColumnTaps& taps,
                   const ShrunkSpan& span, const RowStyle& style, float* out, std::int64_t n);
};

[[nodiscard]] const ResampleOps& resample_ops();

}  // namespace medley
