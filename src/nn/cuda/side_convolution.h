#pragma once

#include <torch/torch.h>

#include "nn/cuda/side_stream.h"

namespace medley::nn {

/// A convolution without a bias whose weight gets its gradient on the side stream, and not through
/// autograd.
[[nodiscard]] torch::Tensor side_convolution(SideStream& side, const torch::Tensor& x,
                                             const torch::Tensor& weight, std::int64_t stride,
                                             std::int64_t padding);

}  // namespace medley::nn
