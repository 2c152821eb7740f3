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

/// Loads if `wanted`, else gives zeros: a predicate rather than a branch, so that the loads of
/// several packs follow one another at once. From memory that the kernel does not write.
template <typename P>
__device__ inline P load_pack(const P* from, bool wanted) {
  std::uint32_t words[sizeof(P) / 4] = {};
  const int flag = wanted ? 1 : 0;
  if constexpr (sizeof(P) == 16) {
    asm("{ .reg .pred p; setp.ne.s32 p, %4, 0; @p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%5]; }"
        : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3])
        : "r"(flag), "l"(from));
  } else if constexpr (sizeof(P) == 8) {
    asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.nc.v2.u32 {%0, %1}, [%3]; }"
        : "+r"(words[0]), "+r"(words[1])
        : "r"(flag), "l"(from));
  } else {
    static_assert(sizeof(P) == 4);
    asm("{ .reg .pred p; setp.ne.s32 p, %1, 0; @p ld.global.nc.u32 %0, [%2]; }"
        : "+r"(words[0])
        : "r"(flag), "l"(from));
  }
  P pack;
  std::memcpy(&pack, words, sizeof pack);
  return pack;
}

/// To memory that is not read again soon.
template <typename P>
__device__ inline void store_pack(P* to, const P& pack) {
  if constexpr (sizeof(P) == 16) {
    uint4 raw;
    std::memcpy(&raw, &pack, sizeof raw);
    __stcs(reinterpret_cast<uint4*>(to), raw);
  } else if constexpr (sizeof(P) == 8) {
    uint2 raw;
    std::memcpy(&raw, &pack, sizeof raw);
    __stcs(reinterpret_cast<uint2*>(to), raw);
  } else {
    static_assert(sizeof(P) == 4);
    unsigned raw;
    std::memcpy(&raw, &pack, sizeof raw);
    __stcs(reinterpret_cast<unsigned*>(to), raw);
  }
}

/// Chooses between the values of two packs, bit by bit.
template <typename T, int kCount>
class PackSelect {
 public:
  /// Takes value i from the second pack if bit i is set.
  explicit __device__ PackSelect(std::uint32_t bits) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      masks_[w] = 0;
#pragma unroll
      for (int i = 0; i < kPerWord; ++i) {
        if ((bits >> (w * kPerWord + i) & 1u) != 0) masks_[w] |= kOnes << (32 / kPerWord * i);
      }
    }
  }
  /// The first pack alone unless `enabled`.
  [[nodiscard]] __device__ Pack<T, kCount> operator()(const Pack<T, kCount>& first,
                                                      const Pack<T, kCount>& second,
                                                      bool enabled) const {
    std::uint32_t a[kWords], b[kWords];
    std::memcpy(a, &first, sizeof a);
    std::memcpy(b, &second, sizeof b);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const std::uint32_t mask = enabled ? masks_[w] : 0;
      a[w] = (a[w] & ~mask) | (b[w] & mask);
    }
    Pack<T, kCount> chosen;
    std::memcpy(&chosen, a, sizeof chosen);
    return chosen;
  }

 private:
  static constexpr int kPerWord = 4 / sizeof(T);
  static constexpr int kWords = kCount / kPerWord;
  static constexpr std::uint32_t kOnes = 0xFFFFFFFFu >> (32 - 32 / kPerWord);
  std::uint32_t masks_[kWords];
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

/// Values times weights: what `unpack` gives, multiplied.
template <typename T, int kCount>
__device__ inline void weigh(const Pack<T, kCount>& pack, const float (&weights)[kCount],
                             float (&v)[kCount]) {
  unpack(pack, v);
#pragma unroll
  for (int i = 0; i < kCount; ++i) v[i] = v[i] * weights[i];
}

/// (2^23 + byte) * weight - 2^23 * weight, rounded once, is byte * weight for weights that
/// are not `PlanNeeds::large_weights`.
template <int kCount>
__device__ inline void weigh(const Pack<std::uint8_t, kCount>& pack, const float (&weights)[kCount],
                             float (&v)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, &pack.values[i], 4);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float raised = __uint_as_float(__byte_perm(word, 0x4B000000u, 0x7440u + j));
      v[i + j] = __fmaf_rn(raised, weights[i + j], -8388608.0f * weights[i + j]);
    }
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
