#pragma once

#include "nn/layers.h"

namespace medley::nn {

/// Whether fused_means works for this input: interleaved bf16 on a GPU, without a shift.
[[nodiscard]] bool can_fuse_means(const Residual& x);

/// As pixel_means, with the kernels of nn/kernels/means.h.
[[nodiscard]] torch::Tensor fused_means(const Residual& x);

/// As torch::linear for f32, but the gradient of the bias has a kernel that suits few rows.
[[nodiscard]] torch::Tensor fused_linear(const torch::Tensor& x, const torch::Tensor& weight,
                                         const torch::Tensor& bias);

}  // namespace medley::nn
