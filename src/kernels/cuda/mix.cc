#include "kernels/cuda/mix.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "core/check.h"
#include "kernels/check_views.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/device_plan.h"
#include "kernels/enums.h"
#include "medley/cuda.h"

namespace medley::cuda {
namespace {

bool multiple_of(std::int64_t value, std::int64_t n) { return value % n == 0; }

/// Images of one channel are planar as well as interleaved; kernels then take them as planar.
Layout layout_of(const ImageBatchView& v) {
  return v.shape.channels == 1 ? Layout::nchw : v.layout;
}

/// Whether vectors of `count` values can be loaded or stored all over a batch.
bool in_vectors(const ImageBatchView& v, std::int64_t count) {
  BatchStrides dense = dense_strides(v.shape, v.layout);
  dense.image = v.strides.image;  // images may lie apart
  if (v.shape.channels == 1) dense.channel = v.strides.channel;
  const std::int64_t row =
      std::int64_t{v.shape.width} * (v.layout == Layout::nhwc ? v.shape.channels : 1);
  return v.strides == dense && multiple_of(row, count) && multiple_of(v.strides.image, count) &&
         reinterpret_cast<std::uintptr_t>(v.data) %
                 static_cast<std::uintptr_t>(count * size_of(v.dtype)) ==
             0;
}

bool fits_vectors(const ImageBatchView& in, const ImageBatchView& out, const MixCall& call) {
  const std::int32_t count = vector_values(in.dtype, out.dtype);
  // Images of another size than the outputs are read through windows, value by value.
  const bool input_fits = !(in.shape.size() == out.shape.size()) || in_vectors(in, count);
  const Layout layout = layout_of(out);
  const bool layout_fits =
      layout_of(in) == layout && (layout == Layout::nchw || out.shape.channels == 3);
  const bool weights_fit = in.dtype != DType::u8 || !call.needs.large_weights;
  return layout_fits && weights_fit && input_fits && in_vectors(out, count) &&
         std::ssize(call.affine) <= kMaxVectorChannels && fits_tiles(call);
}

void launch_mix_vectors(const MixCall& call, cudaStream_t stream) {
  switch (call.params.in_dtype) {
    case DType::u8:
      return launch_mix_vectors_u8(call, stream);
    case DType::f16:
      return launch_mix_vectors_f16(call, stream);
    case DType::bf16:
      return launch_mix_vectors_bf16(call, stream);
    case DType::f32:
      return launch_mix_vectors_f32(call, stream);
  }
}

}  // namespace

bool fits_tiles(const MixCall& call) {
  constexpr std::int64_t kMaxBlocks = (std::int64_t{1} << 31) - 1;
  constexpr std::size_t kMaxSharedBytes = 48 << 10;  // what a block gets without being asked
  const MixParams& p = call.params;
  for (std::int32_t i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    if (!call.needs.has(family)) continue;
    const TileGrid grid = tile_grid(p, vector_values(p.in_dtype, p.out_dtype), family, call.needs);
    if (grid.blocks > kMaxBlocks || std::int64_t{grid.row_values} * p.size.height > kMaxBlocks ||
        tile_bytes(family, p.size, grid) > kMaxSharedBytes) {
      return false;
    }
    // Shrunk partners are read whole by blocks as wide as the image, and only in their box.
    if (family == Family::resampled &&
        (call.windows() || call.needs.resampled_outside || grid.column_tiles.divisor != 1)) {
      return false;
    }
  }
  return true;
}

void mix(const DevicePlan& plan, const ImageBatchView& in, const MutableImageBatchView& out,
         const MixOptions& options, Stream stream, StepIndex step) {
  const DevicePlan::Impl& impl = plan.impl();
  require_enumerator("pad_mode", kPadModes, options.pad_mode);
  check_view("the input", in);
  check_view("the output", out);
  check_output(out, impl.batch, in.shape.channels, impl.size);
  check_input_size(in, impl.size, options);
  if (in.shape.count < impl.images) {
    fail_argument(fmt::format("the plan was uploaded for {} images, but the input has {}",
                              impl.images, in.shape.count));
  }
  if (overlap(in, out)) fail_argument("input and output overlap; cuda does not mix in place");
  MixCall call{};
  MixParams& p = call.params;
  p.entries = impl.entries();
  p.terms = impl.terms();
  p.fields = impl.fields();
  p.tiles = impl.tiles();
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
  p.out_layout = layout_of(out);
  const std::vector<Affine> affine = affine_of(options.normalize, in.shape.channels);
  if (std::ssize(affine) > kMaxNormalizedChannels) {
    fail_argument(fmt::format("cuda normalizes at most {} channels, got {}", kMaxNormalizedChannels,
                              affine.size()));
  }
  p.normalize = affine.empty() ? 0 : 1;
  call.affine = affine;
  call.needs = impl.needs;
  if (fits_vectors(in, out, call)) {
    launch_mix_vectors(call, stream);
  } else {
    launch_mix_any(call, stream);
  }
}

}  // namespace medley::cuda
