#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace medley::nn {

/// Mixed class labels: `terms` classes and weights per row.
struct LossInput {
  const float* logits;  // rows x classes, dense
  const std::int64_t* labels;
  const float* weights;
  std::int32_t rows = 0;
  std::int32_t classes = 0;
  std::int32_t terms = 0;
  float smoothing = 0;
  bool bce_softmax = false;  // else cross entropy
};

/// Writes the loss of each row and the gradient of their mean by the logits, and adds the losses to
/// `*sum`. The functions of learn.cc.
void launch_loss(const LossInput& input, float* losses, double* sum, float* gradient,
                 cudaStream_t stream);

}  // namespace medley::nn
