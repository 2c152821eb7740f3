#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/pixel.h"
#include "medley/types.h"

// Several pixel values at a time, to and from float: kernels/pixel.h with the conversions that a
// GPU does two or four at a time. Same numbers; only the payload of a NaN may differ.

namespace medley::cuda {

template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

template <int kCount>
__device__ inline void unpack(const Pack<float, kCount>& pack, float (&v)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) v[i] = pack.values[i];
}

template <int kCount>
__device__ inline void unpack(const Pack<std::uint8_t, kCount>& pack, float (&v)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, &pack.values[i], 4);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      // A byte as the lowest bits of 2^23: exact, and cheaper than an integer conversion.
      const std::uint32_t bits = __byte_perm(word, 0x4B000000u, 0x7440u + j);
      v[i + j] = __uint_as_float(bits) - 8388608.0f;
    }
  }
}

template <int kCount>
__device__ inline void unpack(const Pack<F16, kCount>& pack, float (&v)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    __half2 pair;
    std::memcpy(&pair, &pack.values[i], 4);
    const float2 floats = __half22float2(pair);
    v[i] = floats.x;
    v[i + 1] = floats.y;
  }
}

template <int kCount>
__device__ inline void unpack(const Pack<BF16, kCount>& pack, float (&v)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    std::uint32_t word;
    std::memcpy(&word, &pack.values[i], 4);
    v[i] = __uint_as_float(word << 16);
    v[i + 1] = __uint_as_float(word & 0xFFFF0000u);
  }
}

template <int kCount>
__device__ inline void pack(const float (&v)[kCount], Pack<float, kCount>& out) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) out.values[i] = v[i];
}

template <int kCount>
__device__ inline void pack(const float (&v)[kCount], Pack<std::uint8_t, kCount>& out) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    std::uint32_t bits[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      // fmaxf takes the number where the other is NaN. The sum rounds to nearest, ties to even.
      bits[j] = __float_as_uint(fminf(fmaxf(v[i + j], 0.0f), 255.0f) + 8388608.0f);
    }
    const std::uint32_t word = __byte_perm(__byte_perm(bits[0], bits[1], 0x0040),
                                           __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
    std::memcpy(&out.values[i], &word, 4);
  }
}

template <int kCount>
__device__ inline void pack(const float (&v)[kCount], Pack<F16, kCount>& out) {
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    const __half2 pair = __floats2half2_rn(v[i], v[i + 1]);
    std::memcpy(&out.values[i], &pair, 4);
  }
}

template <int kCount>
__device__ inline void pack(const float (&v)[kCount], Pack<BF16, kCount>& out) {
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(v[i], v[i + 1]);
    std::memcpy(&out.values[i], &pair, 4);
  }
}

}  // namespace medley::cuda
