// The specification: plain loops over outputs, channels, rows and columns.

#include <cstddef>
#include <vector>

#include "kernels/lower.h"
#include "kernels/output_pixel.h"

namespace medley {
namespace {

std::int64_t offset_of(const BatchStrides& s, std::int64_t image, std::int64_t c, std::int64_t y,
                       std::int64_t x) {
  return image * s.image + c * s.channel + y * s.row + x * s.column;
}

template <typename In, typename Out>
void mix_all(const LoweredPlan& plan, const MixJob& job) {
  InputImages<In> in{static_cast<const In*>(job.in.data),
                     job.in.strides,
                     job.in.shape.size(),
                     plan.size,
                     job.pad_mode == PadMode::reflect,
                     {},
                     plan.tiles.data()};
  store(job.pad_value, in.padding);
  auto* out = static_cast<Out*>(job.out.data);
  for (std::int64_t b = 0; b < std::ssize(plan.entries); ++b) {
    const LoweredEntry& e = plan.entries[static_cast<std::size_t>(b)];
    for (std::int32_t c = 0; c < job.out.shape.channels; ++c) {
      for (std::int32_t y = 0; y < plan.size.height; ++y) {
        const float row = gaussian_factor_f32(e.gaussian_scale, y - e.top);
        for (std::int32_t x = 0; x < plan.size.width; ++x) {
          const float column = gaussian_factor_f32(e.gaussian_scale, x - e.left);
          float value = output_value(in, e, plan.terms.data(), plan.fields, c, y, x, row, column);
          if (!job.affine.empty()) value = apply(job.affine[static_cast<std::size_t>(c)], value);
          store(value, out[offset_of(job.out.strides, b, c, y, x)]);
        }
      }
    }
  }
}

template <typename In>
void mix_from(const LoweredPlan& plan, const MixJob& job) {
  switch (job.out.dtype) {
    case DType::u8:
      return mix_all<In, std::uint8_t>(plan, job);
    case DType::f16:
      return mix_all<In, F16>(plan, job);
    case DType::bf16:
      return mix_all<In, BF16>(plan, job);
    case DType::f32:
      return mix_all<In, float>(plan, job);
  }
}

/// Elements from the first to the last of a batch.
std::int64_t extent_of(const ImageBatchView& view) {
  const BatchShape& s = view.shape;
  return offset_of(view.strides, s.count - 1, s.channels - 1, s.height - 1, s.width - 1) + 1;
}

}  // namespace

void mix_reference(const LoweredPlan& plan, const MixJob& given) {
  MixJob job = given;
  std::vector<std::byte> copy;
  if (job.in_place) {
    const auto* data = static_cast<const std::byte*>(job.in.data);
    copy.assign(data, data + extent_of(job.in) * size_of(job.in.dtype));
    job.in.data = copy.data();
  }
  switch (job.in.dtype) {
    case DType::u8:
      return mix_from<std::uint8_t>(plan, job);
    case DType::f16:
      return mix_from<F16>(plan, job);
    case DType::bf16:
      return mix_from<BF16>(plan, job);
    case DType::f32:
      return mix_from<float>(plan, job);
  }
}

}  // namespace medley
