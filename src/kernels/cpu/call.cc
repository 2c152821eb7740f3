#include "kernels/cpu/call.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/cache_line.h"

namespace medley {
namespace {

/// Several rows go through a loop together, up to this many values: …
constexpr std::int64_t kGroupValues = 8192;
/// … or this many, if they wait in a buffer on their way.
constexpr std::int64_t kBufferedValues = 2048;
/// … or this many, if channels are made in turn and their inputs come from memory: what is asked
/// for ahead is needed before it is forgotten.
constexpr std::int64_t kTakenInTurn = 256;
/// Far enough ahead that memory answers in time; …
constexpr std::int64_t kAheadBytes = 4096;
/// … where channels are read in turn or all at a time, each has less to read meanwhile.
constexpr std::int64_t kAheadAcross = 2048;
/// Where two images take turns in rows, these are asked for earlier: processors do not foresee
/// short stretches. Bytes are read so slowly that they do not need it.
constexpr std::int64_t kFarBytes = 10 << 10;

std::int64_t dense_row(const ImageBatchView& view) {
  return view.layout == Layout::nhwc ? std::int64_t{view.shape.width} * view.shape.channels
                                     : view.shape.width;
}

bool rows_are_dense(const ImageBatchView& view) { return view.strides.row == dense_row(view); }

/// Whether channels follow each other as rows do.
bool planes_are_dense(const ImageBatchView& view) {
  return view.layout == Layout::nchw && rows_are_dense(view) &&
         view.strides.channel == view.shape.size().pixels();
}

/// Whether every row of the output fills whole lines.
bool rows_are_lines(const MutableImageBatchView& out) {
  const std::int64_t size = size_of(out.dtype);
  return reinterpret_cast<std::uintptr_t>(out.data) % kLineBytes == 0 &&
         out.strides.row * size % kLineBytes == 0 && out.strides.channel * size % kLineBytes == 0 &&
         out.strides.image * size % kLineBytes == 0 && out.shape.width * size % kLineBytes == 0;
}

/// Below this weight an image cannot change any bit of the output, with room to spare. In general
/// that is a weight that is 0 in single precision. But normalized u8 values are far from tiny: 0
/// becomes the bias, and what is below an ulp of everything does not matter.
double least_gaussian_weight(const MixJob& job) {
  constexpr double kZero = 0x1p-151;
  constexpr double kBelowUlps = 0x1p-110;
  if (job.in.dtype != DType::u8 || job.affine.empty()) return kZero;
  const bool robust = std::ranges::all_of(job.affine, [](const Affine& a) {
    return std::abs(a.bias) > 0x1p-60f * std::abs(a.scale) && std::abs(a.bias) > 0x1p-60f;
  });
  return robust ? kBelowUlps : kZero;
}

std::int64_t group_of(const MixJob& job, std::int64_t row) {
  const bool in_turn =
      job.streaming && job.in.layout == Layout::nchw && job.out.layout == Layout::nhwc;
  return std::max<std::int64_t>(1, (in_turn ? kTakenInTurn : kBufferedValues) / row);
}

}  // namespace

CpuCall::CpuCall(const LoweredPlan& lowered, const MixJob& mix_job, Scratch& scratch)
    : plan(lowered),
      job(mix_job),
      ops(row_ops(job.in.dtype)),
      f32_ops(row_ops(DType::f32)),
      lines(line_ops()),
      windows(job, lines, plan, scratch),
      height(plan.size.height),
      width(plan.size.width),
      channels(job.in.shape.channels),
      in_nhwc(job.in.layout == Layout::nhwc),
      out_nhwc(job.out.layout == Layout::nhwc),
      unit(in_nhwc && out_nhwc ? channels : 1),
      row(width * unit),
      in_size(size_of(job.in.dtype)),
      out_size(size_of(job.out.dtype)),
      dense_out(rows_are_dense(job.out)),
      planes_follow(job.affine.empty() && planes_are_dense(job.in) && planes_are_dense(job.out) &&
                    job.in.shape.size() == plan.size),
      direct(job.out.dtype == DType::f32 && in_nhwc == out_nhwc),
      whole_lines(direct && unit == 1 && rows_are_lines(job.out)),
      copies(job.in.dtype == job.out.dtype && job.affine.empty()),
      least_weight(least_gaussian_weight(job)),
      group(group_of(job, row)) {
  // Normalization of interleaved rows is as long as a group.
  const bool long_rows = direct && (unit == 1 || job.affine.empty());
  long_group = long_rows ? std::max<std::int64_t>(1, kGroupValues / row) : group;
  const std::int64_t in_row = job.in.strides.row * in_size;
  const auto in_rows = [&](std::int64_t bytes) {
    return std::max<std::int64_t>(1, (bytes + in_row / 2) / in_row) * in_row;
  };
  ahead = job.streaming ? in_rows(in_nhwc == out_nhwc ? kAheadBytes : kAheadAcross) : 0;
  far = job.in.dtype == DType::f32 ? in_rows(kFarBytes) : 0;

  if (job.affine.empty()) return;
  const std::int64_t values = unit == 1 ? channels : group * row;
  scale = scratch.take<float>(values);
  bias = scratch.take<float>(values);
  for (std::int64_t i = 0; i < values; ++i) {
    const Affine a = job.affine[static_cast<std::size_t>(i % channels)];
    scale[i] = a.scale;
    bias[i] = a.bias;
  }
}

RowStyle CpuCall::style(std::int32_t c, bool stream) const noexcept {
  RowStyle result;
  result.ahead = ahead;
  result.stream = stream;
  if (scale == nullptr) return result;
  const bool uniform = unit == 1;
  result.affine = uniform ? RowAffine{scale + c, bias + c, true} : RowAffine{scale, bias, false};
  return result;
}

}  // namespace medley
