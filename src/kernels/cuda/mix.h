#pragma once

#include <span>

#include <cuda_runtime.h>

#include "kernels/cuda/params.h"
#include "kernels/cuda/tile.h"
#include "medley/types.h"

namespace medley::cuda {

/// What a launcher gets; arguments have been checked.
struct MixCall {
  MixParams params;
  std::span<const Affine> affine;  // one per channel, or none
  PlanNeeds needs;

  /// Whether images are read through windows.
  [[nodiscard]] bool windows() const { return needs.windows || !(params.in_size == params.size); }
};

/// Any types, layouts, strides: one thread per pixel.
void launch_mix_any(const MixCall& call, cudaStream_t stream);

/// Input and output of one layout, interleaved images of three channels, images dense, rows a
/// multiple of `vector_values` long, memory aligned to vectors, at most kMaxVectorChannels
/// normalized, and `fits_tiles`. One launcher per input type.
void launch_mix_vectors_u8(const MixCall& call, cudaStream_t stream);
void launch_mix_vectors_f16(const MixCall& call, cudaStream_t stream);
void launch_mix_vectors_bf16(const MixCall& call, cudaStream_t stream);
void launch_mix_vectors_f32(const MixCall& call, cudaStream_t stream);

/// Values that a thread of launch_mix_vectors handles at a time: 16 bytes of the wider type, but
/// not more than 8.
[[nodiscard]] constexpr std::int32_t vector_values(DType in, DType out) noexcept {
  const std::int64_t widest = size_of(in) > size_of(out) ? size_of(in) : size_of(out);
  return widest == 1 ? 8 : static_cast<std::int32_t>(16 / widest);
}

/// Whether blocks and shared memory of launch_mix_vectors stay within what every device has.
[[nodiscard]] bool fits_tiles(const MixCall& call);

}  // namespace medley::cuda
