#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/line_ops.h"
#include "kernels/cpu/row_ops.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/window.h"
#include "kernels/lower.h"

namespace medley {

/// What all outputs of a call have in common: operations, sizes, normalization as rows.
struct CpuCall {
  CpuCall(const LoweredPlan& lowered, const MixJob& mix_job, Scratch& scratch);
  CpuCall(const CpuCall&) = delete;
  CpuCall& operator=(const CpuCall&) = delete;

  [[nodiscard]] const std::byte* image(const LoweredSource& source) const noexcept {
    return static_cast<const std::byte*>(job.in.data) +
           source.image * job.in.strides.image * in_size;
  }
  [[nodiscard]] std::byte* out_row(std::int64_t b, std::int32_t c, std::int64_t y) const noexcept {
    const BatchStrides& s = job.out.strides;
    return static_cast<std::byte*>(job.out.data) +
           (b * s.image + c * s.channel + y * s.row) * out_size;
  }
  /// How rows of channel c (or of all, interleaved) are read and written.
  [[nodiscard]] RowStyle style(std::int32_t c, bool stream) const noexcept;

  const LoweredPlan& plan;
  const MixJob& job;
  const RowOps& ops;      // input type to f32
  const RowOps& f32_ops;  // f32 to f32
  const LineOps& lines;
  WindowReader windows;

  std::int32_t height;  // of the outputs, in pixels
  std::int32_t width;
  std::int64_t channels;
  bool in_nhwc;
  bool out_nhwc;
  /// Rows are mixed interleaved when input and output are nhwc, else channel by channel.
  std::int64_t unit;     // values per pixel of a mixed row: channels, or 1
  std::int64_t row;      // values of a mixed row: width * unit
  std::int64_t in_size;  // bytes of an element
  std::int64_t out_size;
  bool dense_out;           // rows of the output follow each other without gaps
  bool planes_follow;       // so do channels, of input and output, and they are treated alike
  bool direct;              // floats are mixed where they go
  bool whole_lines;         // rows of the output are whole lines on line boundaries
  bool copies;              // an image of weight 1 is copied as it is
  double least_weight;      // Gaussian weights below do not change any output
  std::int64_t group;       // most rows mixed in one go …
  std::int64_t long_group;  // … if they neither come from nor go to a buffer
  std::int64_t ahead;       // bytes to prefetch ahead
  std::int64_t far;         // … before that, where two images take turns in rows
  float* scale = nullptr;   // channels (unit 1), or one entry per value of `group` rows; or null
  float* bias = nullptr;
};

}  // namespace medley
