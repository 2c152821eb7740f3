#pragma once

#include <torch/torch.h>

namespace medley::nn {

/// A value on its way through a residual network: x, or the sum of x and `rest`, which its reader
/// takes, since a reader can add and normalise in one pass.
struct Residual {
  torch::Tensor x;
  torch::Tensor rest;  // may be undefined

  [[nodiscard]] torch::Tensor sum() const { return rest.defined() ? x + rest : x; }
};

struct Activated {
  torch::Tensor input;   // the sum
  torch::Tensor active;  // relu(bn(input))
};

/// relu(bn(x)). Interleaved bf16 images on a GPU take two passes over memory instead of four.
[[nodiscard]] torch::Tensor norm_relu(torch::nn::BatchNorm2d& bn, const torch::Tensor& x);
[[nodiscard]] Activated norm_relu(torch::nn::BatchNorm2d& bn, const Residual& x);

}  // namespace medley::nn
