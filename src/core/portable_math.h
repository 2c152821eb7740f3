#pragma once

#include <cstdint>
#include <cstring>

// exp and log from additions, multiplications and bit operations alone, so that plans and masks
// have the same bits whatever the C library, the instruction set or the processor (host or GPU).
// Compile with contraction off.

#if defined(__CUDACC__)
#define MEDLEY_HOST_DEVICE __host__ __device__
#else
#define MEDLEY_HOST_DEVICE
#endif

namespace medley {

MEDLEY_HOST_DEVICE inline double bits_to_double(std::uint64_t bits) noexcept {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

MEDLEY_HOST_DEVICE inline std::uint64_t double_to_bits(double value) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// e^x for x <= 0, within 2 ulp; 0 below -708 (results under the smallest normal number).
MEDLEY_HOST_DEVICE inline double exp_nonpositive(double x) noexcept {
  constexpr double kLog2E = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;  // 33 bits, so n * kLn2High is exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double clamped = x < -708.0 ? -708.0 : x;
  const double shifted = clamped * kLog2E + kRound;
  const double n = shifted - kRound;
  const double r = (clamped - n * kLn2High) - n * kLn2Low;
  // Taylor series; |r| <= ln(2)/2, so the first term left out is below 5e-18.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The low bits of `shifted` hold n; move them into the exponent field.
  const double scale = bits_to_double((double_to_bits(shifted) + 1023) << 52);
  return x < -708.0 ? 0.0 : p * scale;
}

/// Natural logarithm of a positive normal number, within 2 ulp.
MEDLEY_HOST_DEVICE inline double log_positive(double x) noexcept {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kSqrtHalf = 0.70710678118654752440;
  const std::uint64_t bits = double_to_bits(x);
  auto exponent = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1022);
  // Mantissa in [1/2, 1), then in [sqrt(1/2), sqrt(2)).
  double m = bits_to_double((bits & 0x000FFFFFFFFFFFFFull) | 0x3FE0000000000000ull);
  if (m < kSqrtHalf) {
    m = m + m;
    exponent -= 1;
  }
  // log m = 2 atanh s; |s| <= 0.1716, so the first term left out is below 1e-19.
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 1.0 / 23.0;
  p = p * z + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  const double tail = 2.0 * s * z * p;
  return exponent * kLn2High + (2.0 * s + (tail + exponent * kLn2Low));
}

}  // namespace medley
