#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/interpolation.h"
#include "core/portable_math.h"
#include "medley/types.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

// The arithmetic of a pixel, defined once for every backend. Products and sums are rounded
// separately (contraction is off), so results do not depend on the instruction set. GPUs convert
// with single instructions where these give the same numbers; only the payload of a NaN may differ.

namespace medley {

MEDLEY_HOST_DEVICE inline float bits_to_float(std::uint32_t bits) noexcept {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

MEDLEY_HOST_DEVICE inline std::uint32_t float_to_bits(float value) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// ---- storage types ----

MEDLEY_HOST_DEVICE inline float to_float(std::uint8_t value) noexcept {
  return static_cast<float>(value);
}

MEDLEY_HOST_DEVICE inline float to_float(F16 value) noexcept {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(value.bits));
#else
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t rest = value.bits & 0x7FFFu;
  if (rest >= 0x7C00u) return bits_to_float(sign | 0x7F800000u | (rest & 0x3FFu) << 13);
  // Shifting leaves the exponent 112 too small; the product repairs it, exactly.
  return bits_to_float(sign | float_to_bits(bits_to_float(rest << 13) * 0x1p112f));
#endif
}

MEDLEY_HOST_DEVICE inline float to_float(BF16 value) noexcept {
  return bits_to_float(static_cast<std::uint32_t>(value.bits) << 16);
}

MEDLEY_HOST_DEVICE inline float to_float(float value) noexcept { return value; }

/// Rounded to nearest, ties to even, and clamped to [0, 255]; NaN becomes 0.
MEDLEY_HOST_DEVICE inline void store(float value, std::uint8_t& out) noexcept {
  const float positive = value > 0.0f ? value : 0.0f;
  const float clamped = positive < 255.0f ? positive : 255.0f;
  out = static_cast<std::uint8_t>(rintf(clamped));
}

/// Rounded to nearest, ties to even; overflow gives infinity.
MEDLEY_HOST_DEVICE inline void store(float value, F16& out) noexcept {
#if defined(__CUDA_ARCH__)
  out.bits = __half_as_ushort(__float2half_rn(value));
#else
  const std::uint32_t bits = float_to_bits(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t rest = bits & 0x7FFFFFFFu;
  std::uint32_t half;
  if (rest > 0x7F800000u) {
    half = 0x7E00u;  // NaN
  } else if (rest >= 0x47800000u) {
    half = 0x7C00u;  // 65536 and more
  } else if (rest < 0x38800000u) {
    // Subnormal: adding 1/2 puts the last bit of the result at the end of the mantissa.
    half = float_to_bits(bits_to_float(rest) + 0.5f) - 0x3F000000u;
  } else {
    half = (rest - 0x38000000u + 0xFFFu + (rest >> 13 & 1u)) >> 13;
  }
  out.bits = static_cast<std::uint16_t>(sign | half);
#endif
}

MEDLEY_HOST_DEVICE inline void store(float value, BF16& out) noexcept {
#if defined(__CUDA_ARCH__)
  out.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
  const std::uint32_t bits = float_to_bits(value);
  const bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  const std::uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1u);
  out.bits = static_cast<std::uint16_t>(nan ? (bits >> 16 | 0x40u) : rounded >> 16);
#endif
}

MEDLEY_HOST_DEVICE inline void store(float value, float& out) noexcept { out = value; }

// ---- mixing ----

/// Weights of the two images at a pixel; they sum to 1 up to rounding.
struct Weights {
  float own;
  float partner;
};

/// own * weight + partner * weight; an image of weight 0 has no say, whatever it holds.
MEDLEY_HOST_DEVICE inline float blend(Weights w, float own, float partner) noexcept {
  if (w.partner == 0.0f) return own;
  if (w.own == 0.0f) return partner;
  return own * w.own + partner * w.partner;
}

/// Linear map of a channel: (value - mean) / stddev as value * scale + bias.
struct Affine {
  float scale;
  float bias;
};

MEDLEY_HOST_DEVICE inline float apply(Affine affine, float value) noexcept {
  return value * affine.scale + affine.bias;
}

// ---- geometry ----

/// Position outside [0, n) mirrored at the edge pixels, which are not repeated.
MEDLEY_HOST_DEVICE inline std::int32_t reflect(std::int32_t i, std::int32_t n) noexcept {
  if (n == 1) return 0;
  const std::int32_t period = 2 * (n - 1);
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - i;
}

/// Whether row or column i lies in an interval that may wrap around an axis of n pixels.
MEDLEY_HOST_DEVICE inline bool in_interval(std::int32_t i, std::int32_t begin, std::int32_t length,
                                           std::int32_t n) noexcept {
  const std::int32_t offset = i - begin;
  return (offset < 0 ? offset + n : offset) < length;
}

}  // namespace medley
