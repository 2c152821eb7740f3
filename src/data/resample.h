#pragma once

#include <cstddef>
#include <cstdint>

#include "medley/types.h"

namespace medley::data {

/// Rows of interleaved RGB.
struct RgbRows {
  const std::uint8_t* data;
  std::size_t stride;  ///< bytes from row to row
  ImageSize size;
};

/// Part of an image, in its pixels; edges need not fall between pixels.
struct Window {
  double top;
  double left;
  double height;
  double width;
};

/// Writes the window, resized to `size` with a triangle filter that is widened when shrinking, as
/// 3 * size.pixels() values of interleaved RGB.
void resample(const RgbRows& from, const Window& window, ImageSize size, std::uint8_t* rgb);

}  // namespace medley::data
