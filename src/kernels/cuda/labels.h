#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/cuda/device_plan.h"

namespace medley::cuda {

/// Arguments of the label kernels.
struct LabelParams {
  const LabelTerm* terms;
  StepIndex step;
  std::int64_t steps;
  std::int64_t batch;
  std::int32_t count;  // terms per sample
  const std::int64_t* labels;
};

// Launchers; arguments have been checked.
void launch_pair_labels(const LabelParams& params, std::int64_t* classes, float* weights,
                        cudaStream_t stream);
void launch_label_rows(const LabelParams& params, std::int64_t num_classes, float* rows,
                       double smoothing, cudaStream_t stream);

}  // namespace medley::cuda
