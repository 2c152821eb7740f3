// One thread per pixel, any combination of types and layouts: the definition of a pixel, in
// parallel.

#include <algorithm>

#include "kernels/cuda/check.h"
#include "kernels/cuda/mix.h"

namespace medley::cuda {
namespace {

constexpr int kThreads = 256;

using AnyAffine = ChannelAffine<kMaxNormalizedChannels>;

__device__ void store_any(float value, DType dtype, void* out, std::int64_t at) {
  switch (dtype) {
    case DType::u8:
      return store(value, static_cast<std::uint8_t*>(out)[at]);
    case DType::f16:
      return store(value, static_cast<F16*>(out)[at]);
    case DType::bf16:
      return store(value, static_cast<BF16*>(out)[at]);
    case DType::f32:
      return store(value, static_cast<float*>(out)[at]);
  }
}

template <typename In>
__global__ void __launch_bounds__(kThreads)
    mix_any(const __grid_constant__ MixParams p, const __grid_constant__ AnyAffine affine) {
  const auto width = static_cast<std::uint32_t>(p.size.width);
  const auto height = static_cast<std::uint32_t>(p.size.height);
  const std::int64_t pixels = p.batch * p.size.pixels();
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const InputImages<In> in = inputs_of<In>(p);
  const DeviceEntry* entries = p.entries + current_step(p) * p.batch;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pixels;
       i += stride) {
    const std::int64_t row = i / width;
    const std::int64_t b = row / height;
    const auto x = static_cast<std::int32_t>(i - row * width);
    const auto y = static_cast<std::int32_t>(row - b * height);
    const LoweredEntry& e = entries[b].entry;
    const std::int64_t output = entries[b].output;
    float row_factor = 0;
    float column_factor = 0;
    if (e.kind == MaskKind::gaussian) {
      row_factor = gaussian_factor_f32(e.gaussian_scale, y - e.top);
      column_factor = gaussian_factor_f32(e.gaussian_scale, x - e.left);
    }
    const BatchStrides& s = p.out_strides;
    const std::int64_t at = output * s.image + y * s.row + x * s.column;
    for (std::int32_t c = 0; c < p.channels; ++c) {
      float value = output_value(in, e, p.terms, p.fields, c, y, x, row_factor, column_factor);
      if (p.normalize != 0) value = apply(affine.channels[c], value);
      store_any(value, p.out_dtype, p.out, at + c * s.channel);
    }
  }
}

template <typename In>
void launch_from(const MixCall& call, cudaStream_t stream) {
  AnyAffine affine{};
  std::copy(call.affine.begin(), call.affine.end(), affine.channels);
  constexpr std::int64_t kMaxBlocks = 1 << 20;
  const std::int64_t pixels = call.params.batch * call.params.size.pixels();
  const std::int64_t blocks = std::min((pixels + kThreads - 1) / kThreads, kMaxBlocks);
  mix_any<In><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(call.params, affine);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void launch_mix_any(const MixCall& call, cudaStream_t stream) {
  switch (call.params.in_dtype) {
    case DType::u8:
      return launch_from<std::uint8_t>(call, stream);
    case DType::f16:
      return launch_from<F16>(call, stream);
    case DType::bf16:
      return launch_from<BF16>(call, stream);
    case DType::f32:
      return launch_from<float>(call, stream);
  }
}

}  // namespace medley::cuda
