#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// Convolutions of 3x3 pixels, with stride 1 and a frame of zeros, of interleaved bf16 images that
// are small and have few channels, as many after as before: most of the time that residual networks
// spend on such images. Weights are [out][row][column][in]. Sums are taken in f32 and in a fixed
// order: the same input gives the same bits.

namespace medley::nn {

struct ConvShape {
  std::int64_t images = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;
  std::int32_t channels = 0;
};

/// Whether there is a kernel for the shape and the current device can run it.
[[nodiscard]] bool conv3x3_fits(const ConvShape& shape);

void launch_conv3x3(const ConvShape& shape, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                    __nv_bfloat16* y, cudaStream_t stream);

/// Gradient of x from that of y.
void launch_conv3x3_input_gradient(const ConvShape& shape, const __nv_bfloat16* dy,
                                   const __nv_bfloat16* weight, __nv_bfloat16* dx,
                                   cudaStream_t stream);

/// Bytes of scratch memory for launch_conv3x3_weight_gradient.
[[nodiscard]] std::size_t conv3x3_scratch_bytes(const ConvShape& shape);

/// Gradient of the weight from that of y.
void launch_conv3x3_weight_gradient(const ConvShape& shape, const __nv_bfloat16* x,
                                    const __nv_bfloat16* dy, __nv_bfloat16* dweight, void* scratch,
                                    cudaStream_t stream);

}  // namespace medley::nn
