#include "nn/layers.h"

#include "core/check.h"
#if MEDLEY_HAS_CUDA
#include "nn/cuda/direct_convolution.h"
#include "nn/cuda/fused_head.h"
#include "nn/cuda/fused_norm.h"
#include "nn/cuda/side_convolution.h"
#endif

namespace medley::nn {
namespace {

torch::Tensor plain(torch::nn::BatchNorm2d& bn, const torch::Tensor& x) {
  return torch::relu(bn(x));
}

/// Paddings here keep the size of images.
torch::Tensor without_bias(const torch::nn::Conv2dImpl& conv, const torch::Tensor& x) {
  const std::int64_t stride = conv.options.stride()->front();
  const std::int64_t padding = conv.weight.size(2) / 2;
#if MEDLEY_HAS_CUDA
  if (SideStream* side = SideStream::current()) {
    return side_convolution(*side, x, conv.weight, stride, padding);
  }
  if (!at::GradMode::is_enabled() && convolves_directly(x, conv.weight, stride, padding)) {
    return direct_convolution(x, conv.weight);
  }
#endif
  return torch::conv2d(x, conv.weight, {}, stride, padding);
}

}  // namespace

torch::Tensor norm_relu(torch::nn::BatchNorm2d& bn, const torch::Tensor& x) {
  return norm_relu(bn, Shifted{x, {}});
}

torch::Tensor norm_relu(torch::nn::BatchNorm2d& bn, const Shifted& x) {
#if MEDLEY_HAS_CUDA
  if (can_fuse(*bn, x.x)) return fused_norm_relu(*bn, {x.x, {}, x.shift}).active;
#endif
  return plain(bn, x.sum());
}

Activated norm_relu(torch::nn::BatchNorm2d& bn, const Residual& x) {
  MEDLEY_DCHECK(x.rest.defined() || !x.shift.defined());
#if MEDLEY_HAS_CUDA
  if (can_fuse(*bn, x.x)) return fused_norm_relu(*bn, x);
#endif
  const torch::Tensor sum = x.sum();
  return {sum, plain(bn, sum)};
}

torch::Tensor convolution(torch::nn::Conv2dImpl& conv, const torch::Tensor& x) {
  return conv.bias.defined() ? conv.forward(x) : without_bias(conv, x);
}

Shifted shifted_convolution(torch::nn::Conv2dImpl& conv, const torch::Tensor& x) {
  const bool later = conv.bias.defined() && (conv.is_training() || !at::GradMode::is_enabled()) &&
                     x.is_cuda() && x.scalar_type() == torch::kBFloat16;
  if (!later) return {convolution(conv, x), {}};
  return {without_bias(conv, x), conv.bias.detach()};
}

torch::Tensor pixel_means(const Residual& x) {
#if MEDLEY_HAS_CUDA
  if (can_fuse_means(x)) return fused_means(x);
#endif
  const torch::Tensor means = torch::adaptive_avg_pool2d(x.sum(), {1, 1}).flatten(1);
  return means.scalar_type() == torch::kBFloat16 ? means.to(torch::kFloat32) : means;
}

torch::Tensor linear(torch::nn::LinearImpl& layer, const torch::Tensor& x) {
  const torch::Tensor in = x.to(layer.weight.scalar_type());
#if MEDLEY_HAS_CUDA
  if (in.is_cuda() && in.scalar_type() == torch::kFloat32) {
    return fused_linear(in, layer.weight, layer.bias);
  }
#endif
  return layer.forward(in);
}

}  // namespace medley::nn
