// One thread per value, any combination of types and layouts: the definition of a pixel, in
// parallel.

#include "kernels/cuda/check.h"
#include "kernels/cuda/mix.h"

namespace medley::cuda {
namespace {

constexpr int kThreads = 256;

template <typename In>
__device__ float value_from(const MixParams& p, const LoweredEntry& e, std::int32_t c,
                            std::int32_t y, std::int32_t x) {
  InputImages<In> in{
      static_cast<const In*>(p.in), p.in_strides, p.in_size, p.size, p.reflect_pads != 0, {}};
  store(p.pad_value, in.padding);
  float row = 0;
  float column = 0;
  if (e.kind == MaskKind::gaussian) {
    row = gaussian_factor_f32(e.gaussian_scale, y - e.top);
    column = gaussian_factor_f32(e.gaussian_scale, x - e.left);
  }
  return output_value(in, e, p.terms, p.fields, c, y, x, row, column);
}

__global__ void __launch_bounds__(kThreads) mix_any(const __grid_constant__ MixParams p) {
  const std::int64_t image = std::int64_t{p.channels} * p.size.height * p.size.width;
  const std::int64_t step = current_step(p);
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < p.batch * image;
       i += stride) {
    const std::int64_t b = i / image;
    auto rest = static_cast<std::uint32_t>(i % image);
    std::uint32_t c, y, x;
    const auto channels = static_cast<std::uint32_t>(p.channels);
    const auto width = static_cast<std::uint32_t>(p.size.width);
    if (p.out_layout == Layout::nchw) {
      x = rest % width;
      rest /= width;
      y = rest % static_cast<std::uint32_t>(p.size.height);
      c = rest / static_cast<std::uint32_t>(p.size.height);
    } else {
      c = rest % channels;
      rest /= channels;
      x = rest % width;
      y = rest / width;
    }
    const auto ci = static_cast<std::int32_t>(c);
    const auto yi = static_cast<std::int32_t>(y);
    const auto xi = static_cast<std::int32_t>(x);
    const LoweredEntry& e = p.entries[step * p.batch + b];
    float value = 0;
    switch (p.in_dtype) {
      case DType::u8:
        value = value_from<std::uint8_t>(p, e, ci, yi, xi);
        break;
      case DType::f16:
        value = value_from<F16>(p, e, ci, yi, xi);
        break;
      case DType::bf16:
        value = value_from<BF16>(p, e, ci, yi, xi);
        break;
      case DType::f32:
        value = value_from<float>(p, e, ci, yi, xi);
        break;
    }
    if (p.normalise != 0) value = apply(p.affine[c], value);
    const BatchStrides& s = p.out_strides;
    const std::int64_t at = b * s.image + c * s.channel + y * s.row + x * s.column;
    switch (p.out_dtype) {
      case DType::u8:
        store(value, static_cast<std::uint8_t*>(p.out)[at]);
        break;
      case DType::f16:
        store(value, static_cast<F16*>(p.out)[at]);
        break;
      case DType::bf16:
        store(value, static_cast<BF16*>(p.out)[at]);
        break;
      case DType::f32:
        store(value, static_cast<float*>(p.out)[at]);
        break;
    }
  }
}

}  // namespace

void launch_mix_any(const MixParams& params, cudaStream_t stream) {
  const std::int64_t values =
      params.batch * params.channels * params.size.height * params.size.width;
  constexpr std::int64_t kMaxBlocks = 1 << 20;
  const std::int64_t blocks = (values + kThreads - 1) / kThreads;
  mix_any<<<static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks), kThreads, 0,
            stream>>>(params);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::cuda
