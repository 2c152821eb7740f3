#include "nn/cuda/direct_convolution.h"

#include <ATen/cuda/CUDAContext.h>

#include "nn/cuda/interleaved.h"
#include "nn/kernels/conv3x3.h"
#include "nn/kernels/stem_conv.h"

namespace medley::nn {
namespace {

using torch::Tensor;

ConvShape shape_of(const Tensor& x) {
  return {x.size(0), static_cast<std::int32_t>(x.size(2)), static_cast<std::int32_t>(x.size(3)),
          static_cast<std::int32_t>(x.size(1))};
}

/// Of the first layer.
StemShape stem_shape_of(const Tensor& x, const Tensor& weight) {
  return {x.size(0), static_cast<std::int32_t>(x.size(2)), static_cast<std::int32_t>(x.size(3)),
          static_cast<std::int32_t>(x.size(1)), static_cast<std::int32_t>(weight.size(0))};
}

bool is_stem(const Tensor& x, const Tensor& weight) {
  return !x.requires_grad() && stem_conv_fits(stem_shape_of(x, weight));
}

Tensor alike(const Tensor& t) {
  return torch::empty_like(t, t.options().requires_grad(false), at::MemoryFormat::ChannelsLast);
}

Tensor scratch(std::size_t bytes, const Tensor& like) {
  return torch::empty({static_cast<std::int64_t>(bytes)},
                      torch::dtype(torch::kUInt8).device(like.device()));
}

}  // namespace

bool convolves_directly(const Tensor& x, const Tensor& weight, std::int64_t stride,
                        std::int64_t padding) {
  if (!x.is_cuda() || x.dim() != 4 || x.scalar_type() != torch::kBFloat16 ||
      weight.scalar_type() != torch::kBFloat16 || stride != 1 || padding != 1 ||
      weight.size(1) != x.size(1) || weight.size(2) != 3 || weight.size(3) != 3 ||
      !x.is_contiguous(at::MemoryFormat::ChannelsLast)) {
    return false;
  }
  return is_stem(x, weight) || (weight.size(0) == x.size(1) && conv3x3_fits(shape_of(x)));
}

Tensor direct_convolution(const Tensor& x, const Tensor& weight) {
  const Tensor by = interleaved(weight);
  Tensor y = torch::empty({x.size(0), weight.size(0), x.size(2), x.size(3)},
                          x.options().requires_grad(false), at::MemoryFormat::ChannelsLast);
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  if (is_stem(x, weight)) {
    launch_stem_conv(stem_shape_of(x, weight), values(x), values(by), values(y), stream);
  } else {
    launch_conv3x3(shape_of(x), values(x), values(by), values(y), stream);
  }
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
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  if (is_stem(x, weight)) {
    const StemShape shape = stem_shape_of(x, weight);
    launch_stem_weight_gradient(shape, values(x), values(from), values(dweight),
                                scratch(stem_scratch_bytes(shape), x).data_ptr(), stream);
  } else {
    const ConvShape shape = shape_of(x);
    launch_conv3x3_weight_gradient(shape, values(x), values(from), values(dweight),
                                   scratch(conv3x3_scratch_bytes(shape), x).data_ptr(), stream);
  }
  return dweight;
}

}  // namespace medley::nn
