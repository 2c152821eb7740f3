#include "nn/norm_relu.h"

#if MEDLEY_HAS_CUDA
#include "nn/cuda/fused_norm.h"
#endif

namespace medley::nn {
namespace {

torch::Tensor plain(torch::nn::BatchNorm2d& bn, const torch::Tensor& x) {
  return torch::relu(bn(x));
}

}  // namespace

torch::Tensor norm_relu(torch::nn::BatchNorm2d& bn, const torch::Tensor& x) {
#if MEDLEY_HAS_CUDA
  if (can_fuse(*bn, x)) return fused_norm_relu(*bn, {x, {}}).active;
#endif
  return plain(bn, x);
}

Activated norm_relu(torch::nn::BatchNorm2d& bn, const Residual& x) {
#if MEDLEY_HAS_CUDA
  if (can_fuse(*bn, x.x)) return fused_norm_relu(*bn, x);
#endif
  const torch::Tensor sum = x.sum();
  return {sum, plain(bn, sum)};
}

}  // namespace medley::nn
