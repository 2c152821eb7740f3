#pragma once

#include <cstdint>

#include "kernels/lower.h"
#include "kernels/output_pixel.h"

namespace medley::cuda {

inline constexpr std::int32_t kMaxNormalisedChannels = 256;
/// Arguments of the mixing kernels; small enough to be passed by value.
struct MixParams {
  const LoweredEntry* entries;
  const LoweredTerm* terms;
  const float* fields;
  const std::int64_t* step;  // null: step 0
  std::int64_t step_offset;
  std::int64_t steps;
  std::int64_t batch;
  const void* in;
  void* out;
  BatchStrides in_strides;
  BatchStrides out_strides;
  ImageSize in_size;
  ImageSize size;
  std::int32_t channels;
  std::int32_t reflect_pads;
  float pad_value;
  std::int32_t normalise;
  DType in_dtype;
  DType out_dtype;
  Layout out_layout;
  Affine affine[kMaxNormalisedChannels];
};

#if defined(__CUDACC__)
/// The step that the kernel mixes.
__device__ inline std::int64_t current_step(const MixParams& p) {
  if (p.step == nullptr) return 0;
  const auto wanted = static_cast<std::uint64_t>(*p.step + p.step_offset);
  const auto steps = static_cast<std::uint64_t>(p.steps);
  // 64-bit division is slow, and hardly ever needed.
  return static_cast<std::int64_t>(wanted < steps ? wanted : wanted % steps);
}
#endif

}  // namespace medley::cuda
