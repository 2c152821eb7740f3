#pragma once

#include <cstdint>

#include "core/portable_math.h"

// Values between values, defined once for host and device. Products and sums are rounded separately
// (contraction is off).

namespace medley {

/// Where a resampled axis reads: values first and second, the second with weight `fraction`.
struct Tap {
  std::int32_t first;
  std::int32_t second;
  float fraction;
};

/// Pixel i of an axis of n pixels resampled to `length`; pixel centers are at halves, and beyond
/// the outermost of them values go on as they are.
MEDLEY_HOST_DEVICE inline Tap bilinear_tap(std::int32_t i, std::int32_t length,
                                           std::int32_t n) noexcept {
  const double position = (i + 0.5) * (static_cast<double>(n) / length) - 0.5;
  if (!(position > 0.0)) return {0, 0, 0.0f};
  const auto first = static_cast<std::int32_t>(position);
  if (first >= n - 1) return {n - 1, n - 1, 0.0f};
  return {first, first + 1, static_cast<float>(position - first)};
}

MEDLEY_HOST_DEVICE inline Tap nearest_tap(std::int32_t i, std::int32_t length,
                                          std::int32_t n) noexcept {
  const auto at = static_cast<std::int32_t>((i + 0.5) * (static_cast<double>(n) / length));
  const std::int32_t inside = at < n ? at : n - 1;
  return {inside, inside, 0.0f};
}

/// A value of weight 0 has no say, whatever it is.
MEDLEY_HOST_DEVICE inline float interpolate(float first, float second, float fraction) noexcept {
  const float rest = 1.0f - fraction;
  if (fraction == 0.0f) return first;
  if (rest == 0.0f) return second;
  return first * rest + second * fraction;
}

// ---- coarse masks ----

/// The blocks that pixel i of an axis of n pixels takes its weight from, of `blocks` <= n.
MEDLEY_HOST_DEVICE inline Tap grid_tap(bool bilinear, std::int32_t i, std::int32_t n,
                                       std::int32_t blocks) noexcept {
  if (bilinear) return bilinear_tap(i, n, blocks);
  // Sides are below 2^16.
  const auto block =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(blocks) /
                                static_cast<std::uint32_t>(n));
  return {block, block, 0.0f};
}

/// A row of a grid at a pixel's column.
MEDLEY_HOST_DEVICE inline float grid_row_value(const float* row, Tap column) noexcept {
  return interpolate(row[column.first], row[column.second], column.fraction);
}

/// The weight of a pixel: between columns first, then between rows.
MEDLEY_HOST_DEVICE inline float grid_value(const float* values, std::int32_t columns, Tap row,
                                           Tap column) noexcept {
  return interpolate(grid_row_value(values + std::int64_t{row.first} * columns, column),
                     grid_row_value(values + std::int64_t{row.second} * columns, column),
                     row.fraction);
}

}  // namespace medley
