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

/// Adds the losses of all rows to `*sum`, and writes the gradient of their mean by the logits. The
/// functions of learn.cc, in one kernel.
void launch_loss(const LossInput& input, double* sum, float* gradient, cudaStream_t stream);

}  // namespace medley::nn
