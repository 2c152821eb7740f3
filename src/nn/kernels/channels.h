#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

// Matrix units take pixels of eight channels; pictures have fewer.

namespace medley::nn {

inline constexpr std::int32_t kWideChannels = 8;

/// `rows` pixels of up to kWideChannels channels, with zeros for those that they lack.
void launch_widen(std::int64_t rows, std::int32_t channels, const __nv_bfloat16* from,
                  __nv_bfloat16* to, cudaStream_t stream);

/// The other way round: without the channels that were added.
void launch_narrow(std::int64_t rows, std::int32_t channels, const __nv_bfloat16* from,
                   __nv_bfloat16* to, cudaStream_t stream);

}  // namespace medley::nn
