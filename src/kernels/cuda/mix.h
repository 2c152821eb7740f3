#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/params.h"
#include "medley/types.h"

namespace medley::cuda {

// Launchers; arguments have been checked.

/// Any types, layouts, strides: one thread per value.
void launch_mix_any(const MixParams& params, cudaStream_t stream);

/// Input and output of one layout, images dense, rows a multiple of `vector_values` long, memory
/// aligned to vectors, and at most kMaxSharedBytes of tables. One launcher per input type.
void launch_mix_vectors_u8(const MixParams& params, cudaStream_t stream);
void launch_mix_vectors_f16(const MixParams& params, cudaStream_t stream);
void launch_mix_vectors_bf16(const MixParams& params, cudaStream_t stream);
void launch_mix_vectors_f32(const MixParams& params, cudaStream_t stream);

/// Shared memory that every device gives a block without being asked.
inline constexpr std::size_t kMaxSharedBytes = 48 << 10;

/// Upper bound of the tables' bytes for outputs of that size.
[[nodiscard]] constexpr std::size_t table_bytes(ImageSize size, std::int32_t unit) noexcept {
  return 4 * (static_cast<std::size_t>(size.width) * static_cast<std::size_t>(unit + 1) +
              static_cast<std::size_t>(size.height) + 2 * static_cast<std::size_t>(unit) + 40);
}

/// Values that a thread of launch_mix_vectors handles at a time: 16 bytes of the wider type.
[[nodiscard]] constexpr std::int64_t vector_values(DType in, DType out) noexcept {
  return 16 / (size_of(in) > size_of(out) ? size_of(in) : size_of(out));
}

}  // namespace medley::cuda
