#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// The end of a network: means over the pixels of interleaved bf16 images, and what the gradient of
// a bias needs. Sums are taken in f32 and in a fixed order.

namespace medley::nn {

struct MeanShape {
  std::int64_t images = 0;
  std::int64_t pixels = 0;    // of an image
  std::int32_t channels = 0;  // a multiple of 8
};

/// means[image][channel] of `a`, or of `a` and `b` added up if that is not null.
void launch_means(const MeanShape& shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                  float* means, cudaStream_t stream);

/// Gradient of the images from that of their means.
void launch_means_gradient(const MeanShape& shape, const float* dmeans, __nv_bfloat16* dx,
                           cudaStream_t stream);

/// sums[column] over the rows.
void launch_column_sums(std::int32_t rows, std::int32_t columns, const float* values, float* sums,
                        cudaStream_t stream);

}  // namespace medley::nn
