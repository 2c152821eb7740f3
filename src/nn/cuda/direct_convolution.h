#pragma once

#include <torch/torch.h>

namespace medley::nn {

/// Whether the functions below can take the place of LibTorch's for this input and weight: 64
/// channels before and after, or pictures, of which there are no gradients.
[[nodiscard]] bool convolves_directly(const torch::Tensor& x, const torch::Tensor& weight,
                                      std::int64_t stride, std::int64_t padding);

/// As torch::conv2d and its gradients, with the kernels of nn/kernels/conv3x3.h and stem_conv.h. No
/// autograd.
[[nodiscard]] torch::Tensor direct_convolution(const torch::Tensor& x, const torch::Tensor& weight);
[[nodiscard]] torch::Tensor direct_input_gradient(const torch::Tensor& dy,
                                                  const torch::Tensor& weight);
[[nodiscard]] torch::Tensor direct_weight_gradient(const torch::Tensor& dy, const torch::Tensor& x,
                                                   const torch::Tensor& weight);

}  // namespace medley::nn
