#pragma once

#include <torch/torch.h>

namespace medley::nn {

/// x plus a shift of each channel, which may be undefined: the bias of a convolution that its
/// reader adds. No gradient goes back to it.
struct Shifted {
  torch::Tensor x;
  torch::Tensor shift;

  [[nodiscard]] torch::Tensor sum() const {
    return shift.defined() ? x + shift.view({1, -1, 1, 1}) : x;
  }
};

/// A value on its way through a residual network: x, or the sum of x and `rest`, which its reader
/// takes, since a reader can add and normalize in one pass.
struct Residual {
  torch::Tensor x;
  torch::Tensor rest;   // may be undefined
  torch::Tensor shift;  // as in Shifted; only with a rest

  [[nodiscard]] torch::Tensor sum() const {
    const torch::Tensor shifted = Shifted{x, shift}.sum();
    return rest.defined() ? shifted + rest : shifted;
  }
};

struct Activated {
  torch::Tensor input;   // the sum
  torch::Tensor active;  // relu(bn(input))
};

/// relu(bn(x)). Interleaved bf16 images on a GPU take two passes over memory instead of four.
[[nodiscard]] torch::Tensor norm_relu(torch::nn::BatchNorm2d& bn, const torch::Tensor& x);
[[nodiscard]] torch::Tensor norm_relu(torch::nn::BatchNorm2d& bn, const Shifted& x);
[[nodiscard]] Activated norm_relu(torch::nn::BatchNorm2d& bn, const Residual& x);

/// conv(x). On a GPU the weight may get its gradient beside the backward pass.
[[nodiscard]] torch::Tensor convolution(torch::nn::Conv2dImpl& conv, const torch::Tensor& x);

/// conv(x) for readers that normalize: since they take means away, a bias has no effect on them and
/// no gradient from them. In training and for scores on a GPU it is left to the reader, who has it
/// for nothing.
[[nodiscard]] Shifted shifted_convolution(torch::nn::Conv2dImpl& conv, const torch::Tensor& x);

/// Means over the pixels of every image, in f32 if these are bf16.
[[nodiscard]] torch::Tensor pixel_means(const Residual& x);

/// linear(x), for few rows and columns.
[[nodiscard]] torch::Tensor linear(torch::nn::LinearImpl& layer, const torch::Tensor& x);

}  // namespace medley::nn
