#pragma once

#include <cuda_bf16.h>
#include <torch/torch.h>

// bf16 images whose channels lie side by side, as the kernels of nn/kernels want them.

namespace medley::nn {

[[nodiscard]] inline torch::Tensor interleaved(const torch::Tensor& t) {
  return t.contiguous(at::MemoryFormat::ChannelsLast);
}

/// Null if the tensor is undefined.
[[nodiscard]] inline __nv_bfloat16* values(const torch::Tensor& t) {
  return t.defined() ? static_cast<__nv_bfloat16*>(t.data_ptr()) : nullptr;
}

}  // namespace medley::nn
