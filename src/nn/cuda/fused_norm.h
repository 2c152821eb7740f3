#pragma once

#include "nn/layers.h"

namespace medley::nn {

/// Whether fused_norm_relu works for this layer and input: interleaved bf16 on a GPU, in training
/// or without gradients.
[[nodiscard]] bool can_fuse(const torch::nn::BatchNorm2dImpl& bn, const torch::Tensor& x);

/// As norm_relu, with the kernels of nn/kernels/norm.h.
[[nodiscard]] Activated fused_norm_relu(torch::nn::BatchNorm2dImpl& bn, const Residual& x);

}  // namespace medley::nn
