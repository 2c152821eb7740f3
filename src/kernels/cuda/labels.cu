#include "kernels/cuda/labels.h"

#include "kernels/cuda/check.h"
#include "kernels/cuda/step_of.cuh"
#include "medley/cuda.h"

namespace medley::cuda {
namespace {

constexpr int kThreads = 256;

const __device__ LabelTerm* terms_of_step(const LabelParams& p) {
  return p.terms + step_of(p.step.index, p.step.offset, p.steps) * p.batch * p.count;
}

__global__ void pair_labels(LabelParams p, std::int64_t* classes, float* weights) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.batch * p.count) return;
  const LabelTerm term = terms_of_step(p)[i];
  classes[i] = p.labels[term.image];
  weights[i] = static_cast<float>(term.weight);
}

__global__ void label_rows(LabelParams p, std::int64_t num_classes, float* rows, double smoothing) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.batch * num_classes) return;
  const std::int64_t b = i / num_classes;
  const std::int64_t c = i - b * num_classes;
  const LabelTerm* terms = terms_of_step(p) + b * p.count;
  double value = smoothing / static_cast<double>(num_classes);
  for (std::int32_t k = 0; k < p.count; ++k) {
    if (p.labels[terms[k].image] == c) value += terms[k].weight * (1 - smoothing);
  }
  rows[i] = static_cast<float>(value);
}

__global__ void add(std::int64_t* step, std::int64_t by) { *step += by; }

unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>((items + kThreads - 1) / kThreads);
}

}  // namespace

void launch_pair_labels(const LabelParams& params, std::int64_t* classes, float* weights,
                        cudaStream_t stream) {
  pair_labels<<<blocks_for(params.batch * params.count), kThreads, 0, stream>>>(params, classes,
                                                                                weights);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

void launch_label_rows(const LabelParams& params, std::int64_t num_classes, float* rows,
                       double smoothing, cudaStream_t stream) {
  label_rows<<<blocks_for(params.batch * num_classes), kThreads, 0, stream>>>(params, num_classes,
                                                                              rows, smoothing);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

void advance(std::int64_t* step, Stream stream, std::int64_t by) {
  add<<<1, 1, 0, stream>>>(step, by);
  MEDLEY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace medley::cuda
