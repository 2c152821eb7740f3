#pragma once

#include <cstdint>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace medley::nn {

inline constexpr int kPackValues = 8;

/// Eight neighboring channels of a pixel, 16 bytes.
struct alignas(16) Pack {
  __nv_bfloat16 values[kPackValues];
};

__device__ inline Pack load(const __nv_bfloat16* from, std::int64_t pack) {
  const uint4 words = __ldg(reinterpret_cast<const uint4*>(from) + pack);
  Pack to;
  std::memcpy(&to, &words, sizeof to);
  return to;
}

__device__ inline void store(const Pack& from, __nv_bfloat16* to, std::int64_t pack) {
  uint4 words;
  std::memcpy(&words, &from, sizeof words);
  reinterpret_cast<uint4*>(to)[pack] = words;
}

}  // namespace medley::nn
