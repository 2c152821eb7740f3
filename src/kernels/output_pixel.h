#pragma once

#include <cstdint>

#include "kernels/lower.h"
#include "kernels/pixel.h"

// One value of an output, by definition: what every backend computes, in whatever order.

namespace medley {

/// The input as pixels are read from it.
template <typename In>
struct InputImages {
  const In* data;
  BatchStrides strides;
  ImageSize size;     // of the input images
  ImageSize window;   // of the outputs
  bool reflect_pads;  // else constant
  In padding;
  const std::int32_t* tiles;  // the plan's

  /// Pixel (y, x) of the window of a source.
  [[nodiscard]] MEDLEY_HOST_DEVICE float at(const LoweredSource& source, std::int32_t c,
                                            std::int32_t y, std::int32_t x) const noexcept {
    return to_float(raw_at(source, c, y, x));
  }

  [[nodiscard]] MEDLEY_HOST_DEVICE In raw_at(const LoweredSource& source, std::int32_t c,
                                             std::int32_t y, std::int32_t x) const noexcept {
    if (source.tiles >= 0) {
      const Place place = moved_place(tiles + source.tiles, y, x);
      y = place.y;
      x = place.x;
    }
    std::int32_t sy = y + source.dy;
    std::int32_t sx = (source.flip != 0 ? window.width - 1 - x : x) + source.dx;
    if (sy < 0 || sy >= size.height || sx < 0 || sx >= size.width) {
      if (!reflect_pads) return padding;
      sy = reflect(sy, size.height);
      sx = reflect(sx, size.width);
    }
    return data[source.image * strides.image + c * strides.channel + sy * strides.row +
                sx * strides.column];
  }

  /// A pixel of the entry's partner shrunk into its box: rows first, then columns.
  [[nodiscard]] MEDLEY_HOST_DEVICE float resampled(const LoweredEntry& e, std::int32_t c, Tap rows,
                                                   Tap columns) const noexcept {
    const float first = interpolate(at(e.partner, c, rows.first, columns.first),
                                    at(e.partner, c, rows.second, columns.first), rows.fraction);
    const float second = interpolate(at(e.partner, c, rows.first, columns.second),
                                     at(e.partner, c, rows.second, columns.second), rows.fraction);
    return interpolate(first, second, columns.fraction);
  }
};

/// Where pixel i of an axis of n pixels reads in a partner shrunk into [begin, begin + length).
MEDLEY_HOST_DEVICE inline Tap box_tap(Resample resample, std::int32_t i, std::int32_t begin,
                                      std::int32_t length, std::int32_t n) noexcept {
  const std::int32_t offset = i >= begin ? i - begin : i - begin + n;
  return resample == Resample::nearest ? nearest_tap(offset, length, n)
                                       : bilinear_tap(offset, length, n);
}

/// Value of the output before normalization. `row` and `column` are the Gaussian factors of y and
/// x; `terms` and `fields` are the plan's.
template <typename In>
MEDLEY_HOST_DEVICE float output_value(const InputImages<In>& in, const LoweredEntry& e,
                                      const LoweredTerm* terms, const float* fields, std::int32_t c,
                                      std::int32_t y, std::int32_t x, float row,
                                      float column) noexcept {
  if (e.term_count > 0) {
    float sum = 0;
    bool any = false;
    for (std::int32_t k = 0; k < e.term_count; ++k) {
      const LoweredTerm& term = terms[e.term_begin + k];
      const float weight = term_weight(term, fields, in.window, y, x);
      if (weight == 0) continue;
      const float part = weight * in.at(term.source, c, y, x);
      sum = any ? sum + part : part;
      any = true;
    }
    return sum;
  }
  float field = 0;
  if (e.kind == MaskKind::field) field = fields[e.field + std::int64_t{y} * in.window.width + x];
  if (e.kind == MaskKind::grid) field = grid_at(e.grid(), fields, in.window, y, x);
  const Weights weights = weights_at(e, in.window, y, x, row, column, field);
  const bool resampled = e.resample != Resample::none &&
                         in_interval(y, e.top, e.height, in.window.height) &&
                         in_interval(x, e.left, e.width, in.window.width);
  const float partner =
      resampled ? in.resampled(e, c, box_tap(e.resample, y, e.top, e.height, in.window.height),
                               box_tap(e.resample, x, e.left, e.width, in.window.width))
                : in.at(e.partner, c, y, x);
  return blend(weights, in.at(e.own, c, y, x), partner);
}

}  // namespace medley
