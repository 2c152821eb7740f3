#include "kernels/cuda/mix.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "core/check.h"
#include "kernels/check_views.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/device_plan.h"
#include "medley/cuda.h"

namespace medley::cuda {
namespace {

bool multiple_of(std::int64_t value, std::int64_t n) { return value % n == 0; }

/// Whether vectors of `count` values can be loaded or stored all over a batch.
bool in_vectors(const ImageBatchView& v, std::int64_t count) {
  BatchStrides dense = dense_strides(v.shape, v.layout);
  dense.image = v.strides.image;  // images may lie apart
  const std::int64_t row =
      std::int64_t{v.shape.width} * (v.layout == Layout::nhwc ? v.shape.channels : 1);
  return v.strides == dense && multiple_of(row, count) && multiple_of(v.strides.image, count) &&
         reinterpret_cast<std::uintptr_t>(v.data) %
                 static_cast<std::uintptr_t>(count * size_of(v.dtype)) ==
             0;
}

bool fits_vectors(const ImageBatchView& in, const ImageBatchView& out) {
  constexpr std::int64_t kMaxVectors = std::int64_t{1} << 31;
  const std::int64_t count = vector_values(in.dtype, out.dtype);
  const std::int32_t unit = out.layout == Layout::nhwc ? out.shape.channels : 1;
  // Images of another size than the outputs are read through windows, value by value.
  const bool input_fits = !(in.shape.size() == out.shape.size()) || in_vectors(in, count);
  return in.layout == out.layout && input_fits && in_vectors(out, count) &&
         out.shape.values() / count < kMaxVectors &&
         table_bytes(out.shape.size(), unit) <= kMaxSharedBytes;
}

void launch_mix_vectors(const MixParams& params, cudaStream_t stream) {
  switch (params.in_dtype) {
    case DType::u8:
      return launch_mix_vectors_u8(params, stream);
    case DType::f16:
      return launch_mix_vectors_f16(params, stream);
    case DType::bf16:
      return launch_mix_vectors_bf16(params, stream);
    case DType::f32:
      return launch_mix_vectors_f32(params, stream);
  }
}

}  // namespace

void mix(const DevicePlan& plan, const ImageBatchView& in, const MutableImageBatchView& out,
         const MixOptions& options, Stream stream, StepIndex step) {
  const DevicePlan::Impl& impl = plan.impl();
  check_view("the input", in);
  check_view("the output", out);
  check_output(out, impl.batch, in.shape.channels, impl.size);
  if (in.shape.count < impl.images) {
    fail_argument(fmt::format("the plan was uploaded for {} images, but the input has {}",
                              impl.images, in.shape.count));
  }
  if (overlap(in, out)) fail_argument("input and output overlap; cuda does not mix in place");
  MixParams p{};
  p.entries = impl.entries.get();
  p.terms = impl.terms.get();
  p.fields = impl.fields.get();
  p.step = step.index;
  p.step_offset = step.offset;
  p.steps = impl.steps;
  p.batch = impl.batch;
  p.in = in.data;
  p.out = out.data;
  p.in_strides = in.strides;
  p.out_strides = out.strides;
  p.in_size = in.shape.size();
  p.size = impl.size;
  p.channels = in.shape.channels;
  p.reflect_pads = options.pad_mode == PadMode::reflect ? 1 : 0;
  p.pad_value = static_cast<float>(require_finite("pad_value", options.pad_value));
  p.in_dtype = in.dtype;
  p.out_dtype = out.dtype;
  p.out_layout = out.layout;
  const std::vector<Affine> affine = affine_of(options.normalise, in.shape.channels);
  if (std::ssize(affine) > kMaxNormalisedChannels) {
    fail_argument(fmt::format("cuda normalises at most {} channels, got {}", kMaxNormalisedChannels,
                              affine.size()));
  }
  p.normalise = affine.empty() ? 0 : 1;
  std::copy(affine.begin(), affine.end(), p.affine);
  if (fits_vectors(in, out)) {
    launch_mix_vectors(p, stream);
  } else {
    launch_mix_any(p, stream);
  }
}

}  // namespace medley::cuda
