#include "nn/cuda/direct_convolution.h"

#include <ATen/cuda/CUDAContext.h>

#include "nn/cuda/interleaved.h"
#include "nn/kernels/conv3x3.h"

namespace medley::nn {
namespace {

using torch::Tensor;

ConvShape shape_of(const Tensor& x) {
  return {x.size(0), static_cast<std::int32_t>(x.size(2)), static_cast<std::int32_t>(x.size(3)),
          static_cast<std::int32_t>(x.size(1))};
}

Tensor alike(const Tensor& t) {
  return torch::empty_like(t, t.options().requires_grad(false), at::MemoryFormat::ChannelsLast);
}

}  // namespace

bool convolves_directly(const Tensor& x, const Tensor& weight, std::int64_t stride,
                        std::int64_t padding) {
  return x.is_cuda() && x.dim() == 4 && x.scalar_type() == torch::kBFloat16 &&
         weight.scalar_type() == torch::kBFloat16 && stride == 1 && padding == 1 &&
         weight.size(0) == x.size(1) && weight.size(1) == x.size(1) && weight.size(2) == 3 &&
         weight.size(3) == 3 && x.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         conv3x3_fits(shape_of(x));
}

Tensor direct_convolution(const Tensor& x, const Tensor& weight) {
  const Tensor by = interleaved(weight);
  Tensor y = alike(x);
  launch_conv3x3(shape_of(x), values(x), values(by), values(y), at::cuda::getCurrentCUDAStream());
  return y;
}

Tensor direct_input_gradient(const Tensor& dy, const Tensor& weight) {
  const Tensor from = interleaved(dy);
  const Tensor by = interleaved(weight);
  Tensor dx = alike(from);
  launch_conv3x3_input_gradient(shape_of(from), values(from), values(by), values(dx),
                                at::cuda::getCurrentCUDAStream());
  return dx;
}

Tensor direct_weight_gradient(const Tensor& dy, const Tensor& x, const Tensor& weight) {
  const Tensor from = interleaved(dy);
  Tensor dweight = alike(weight);
  const Tensor scratch =
      torch::empty({static_cast<std::int64_t>(conv3x3_scratch_bytes(shape_of(x)))},
                   torch::dtype(torch::kUInt8).device(x.device()));
  launch_conv3x3_weight_gradient(shape_of(x), values(x), values(from), values(dweight),
                                 scratch.data_ptr(), at::cuda::getCurrentCUDAStream());
  return dweight;
}

}  // namespace medley::nn
