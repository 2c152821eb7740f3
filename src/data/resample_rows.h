#pragma once

#include <cstddef>
#include <cstdint>

namespace medley::data {

/// The inner loops of `resample`, with the same bits on every instruction set. Vectors are read and
/// written whole: floats need `kRowSlack` values of room after their end.
inline constexpr std::size_t kRowSlack = 16;

/// to[i] = Σ_k weights[k] * rows[k * stride + i] for i in [0, count).
void blend_rows(const std::uint8_t* rows, std::size_t stride, const float* weights,
                std::size_t taps, std::size_t count, float* to);

/// For every output position, the input positions first .. first + count - 1 that make it up.
struct Tap {
  std::int32_t first;
  std::int32_t count;
  const float* weights;
};

/// Blends columns of interleaved RGB.
void blend_columns(const float* from, const Tap* taps, std::size_t width, float* to);

/// Rounds to the nearest byte, within 0 and 255.
void round_to_bytes(const float* from, std::size_t count, std::uint8_t* to);

}  // namespace medley::data
