#include "nn/norm_relu.h"

namespace medley::nn {
namespace {

torch::Tensor plain(torch::nn::BatchNorm2d& bn, const torch::Tensor& x) {
  return torch::relu(bn(x));
}

}  // namespace

torch::Tensor norm_relu(torch::nn::BatchNorm2d& bn, const torch::Tensor& x) {
  return plain(bn, x);
}

Activated norm_relu(torch::nn::BatchNorm2d& bn, const Residual& x) {
  const torch::Tensor sum = x.sum();
  return {sum, plain(bn, sum)};
}

}  // namespace medley::nn
