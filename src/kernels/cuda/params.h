#pragma once

#include <cstdint>

#include "kernels/lower.h"
#include "kernels/output_pixel.h"
#if defined(__CUDACC__)
#include "kernels/cuda/step_of.cuh"
#endif

namespace medley::cuda {

/// An entry as it lies in device memory, not in the order of outputs (see `device_order`): read
/// whole, 16 bytes at a time.
struct alignas(16) DeviceEntry {
  LoweredEntry entry;
  std::int32_t output;
};

/// Arguments of the mixing kernels, passed by value.
struct MixParams {
  const DeviceEntry* entries;
  const LoweredTerm* terms;
  const float* fields;
  const std::int32_t* tiles;
  const std::int64_t* step;  // null: 0
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
  std::int32_t normalize;
  DType in_dtype;
  DType out_dtype;
  Layout out_layout;
};

inline constexpr std::int32_t kMaxNormalizedChannels = 256;
/// Channels that the vector kernels normalize; a launch takes longer the more it has to pass.
inline constexpr std::int32_t kMaxVectorChannels = 8;

/// Normalization per channel, passed by value.
template <std::int32_t kChannels>
struct ChannelAffine {
  Affine channels[kChannels];
};

#if defined(__CUDACC__)
__device__ inline std::int64_t current_step(const MixParams& p) {
  return step_of(p.step, p.step_offset, p.steps);
}

/// A copy of the current step's entry number i; all its loads are under way together.
__device__ inline DeviceEntry entry_of(const MixParams& p, std::int64_t i) {
  constexpr int kWords = sizeof(DeviceEntry) / sizeof(uint4);
  const auto* from = reinterpret_cast<const uint4*>(p.entries + current_step(p) * p.batch + i);
  uint4 words[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = __ldg(from + i);
  DeviceEntry to;
  std::memcpy(&to, words, sizeof to);
  return to;
}

template <typename In>
__device__ InputImages<In> inputs_of(const MixParams& p) {
  InputImages<In> in{static_cast<const In*>(p.in), p.in_strides, p.in_size, p.size,
                     p.reflect_pads != 0,          {},           p.tiles};
  store(p.pad_value, in.padding);
  return in;
}
#endif

}  // namespace medley::cuda
