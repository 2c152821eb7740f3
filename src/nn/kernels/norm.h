#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// Batch normalization with ReLU for interleaved bf16 images, in two passes over memory each way.
// Sums are taken in a fixed order: the same input gives the same bits.

namespace medley::nn {

/// `rows` pixels of `channels` values.
struct NormShape {
  std::int64_t rows = 0;
  std::int32_t channels = 0;
};

/// Channels come in vectors of 8 and fit into one block.
[[nodiscard]] constexpr bool norm_fits(const NormShape& shape) {
  return shape.rows > 0 && shape.channels % 8 == 0 && shape.channels >= 8 &&
         shape.channels <= 2048 && shape.rows <= (std::int64_t{1} << 31) / shape.channels;
}

/// Bytes of scratch memory that every call on a stream can share.
[[nodiscard]] std::size_t norm_scratch_bytes();

/// Per channel, f32: what the forward pass leaves for the backward pass.
struct NormSaved {
  float* mean;
  float* inverse_deviation;
  float* scale;  // the output is max(0, scale * x + shift)
  float* shift;
};

struct NormParameters {
  const float* weight;
  const float* bias;
  const __nv_bfloat16* shift;  // added to x, per channel; may be null
  float* running_mean;
  float* running_variance;
  std::int64_t* batches;  // counts calls
  float momentum;
  float epsilon;
};

/// y = relu(norm(x)), where x is `a` plus the shift, or `a` plus the shift plus `b`, rounded to
/// bf16 and stored in `sum`. Without a `b` the shift shows in the running mean alone.
void launch_norm_relu(const NormShape& shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                      __nv_bfloat16* sum, __nv_bfloat16* y, const NormParameters& parameters,
                      const NormSaved& saved, void* scratch, cudaStream_t stream);

/// As launch_norm_relu, but normalizes by the running mean and variance, in one pass: for scores.
void launch_fixed_norm_relu(const NormShape& shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                            __nv_bfloat16* sum, __nv_bfloat16* y, const NormParameters& parameters,
                            cudaStream_t stream);

/// Gradients of the weight, the bias and x, from that of y. `dx` also gets `dsum` added, the
/// gradient that x has from elsewhere, unless that is null.
void launch_norm_relu_backward(const NormShape& shape, const __nv_bfloat16* x,
                               const __nv_bfloat16* dy, const __nv_bfloat16* dsum,
                               const NormSaved& saved, float* dweight, float* dbias,
                               __nv_bfloat16* dx, void* scratch, cudaStream_t stream);

}  // namespace medley::nn
