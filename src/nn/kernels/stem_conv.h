#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// Convolutions of 3x3 pixels, with stride 1 and a frame of zeros, of interleaved bf16 pictures: the
// first layer of a network. Weights are [out][row][column][in]. Sums are taken in f32 and in a
// fixed order: the same input gives the same bits.

namespace medley::nn {

struct StemShape {
  std::int64_t images = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;
  std::int32_t channels = 0;
  std::int32_t out = 0;
};

/// Whether there is a kernel for the shape and the current device can run it.
[[nodiscard]] bool stem_conv_fits(const StemShape& shape);

void launch_stem_conv(const StemShape& shape, const __nv_bfloat16* x, const __nv_bfloat16* weight,
                      __nv_bfloat16* y, cudaStream_t stream);

/// Bytes of scratch memory for launch_stem_weight_gradient.
[[nodiscard]] std::size_t stem_scratch_bytes(const StemShape& shape);

/// Gradient of the weight from that of y.
void launch_stem_weight_gradient(const StemShape& shape, const __nv_bfloat16* x,
                                 const __nv_bfloat16* dy, __nv_bfloat16* dweight, void* scratch,
                                 cudaStream_t stream);

}  // namespace medley::nn
