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

/// Rows of a plane that will be read later. One is asked for with each row that is written.
struct LaterRows {
  const void* plane = nullptr;  // its row 0; null: nothing is asked for
  double first = 0;             // asked for with row 0 …
  double step = 0;              // … and how far on with each row

  [[nodiscard]] std::int64_t row(std::int64_t y) const noexcept {
    return static_cast<std::int64_t>(first + step * static_cast<double>(y));
  }
};

/// Rows of a channel, one after the other without gaps, and what is pasted into them.
struct PastedRows {
  const void* own;
  std::int64_t y;  // of the first row
  std::int64_t rows;
  std::int64_t n;       // values of a row, here and in every plane
  const void* partner;  // its row 0
  const Tap* taps;      // where the rows read, one each; null: they have no box
  std::int64_t last;    // of the taps; there are more than rows if the box goes on below
  ShrunkSpan span;
  float* line;  // working memory that can be a ShrunkSource's
  LaterRows later;
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
  /// A row of n values of `own`, by its type, with shrunk columns in it; normalized alike. The
  /// span's slot is a multiple of `vector`.
  void (*paste[4])(const void* own, const ShrunkSource& source, const ColumnTaps& taps,
                   const ShrunkSpan& span, const RowStyle& style, float* out, std::int64_t n);
  /// The same for many rows. Their length is a multiple of `vector`.
  void (*paste_rows[4])(const PastedRows& rows, const ColumnTaps& taps, const RowStyle& style,
                        float* out);
};

[[nodiscard]] const ResampleOps& resample_ops();

}  // namespace medley
