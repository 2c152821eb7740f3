#pragma once

#include <cstdint>
#include <span>

#include "medley/data/image.h"

namespace medley::data {

/// How a stored image is turned to be seen upright: its transposition first, then mirrored.
struct Orientation {
  bool transposed = false;    ///< rows are columns of what is stored
  bool rows_flipped = false;  ///< stored rows run from the bottom to the top
  bool columns_flipped = false;

  [[nodiscard]] bool upright() const noexcept {
    return !transposed && !rows_flipped && !columns_flipped;
  }
  /// The size of the upright image from that of the stored one, and the other way round.
  [[nodiscard]] ImageSize turned(ImageSize size) const noexcept {
    return transposed ? ImageSize{size.width, size.height} : size;
  }
};

/// What the Exif data of a PNG or JPEG file say; upright if there are none, or broken ones.
[[nodiscard]] Orientation exif_orientation(std::span<const std::uint8_t> file);

/// The part of the stored image that `box` of the upright one shows.
[[nodiscard]] PixelBox stored_box(const PixelBox& box, const Orientation& orientation,
                                  ImageSize stored);

/// Writes the upright image, 3 * stored.pixels() values. `rgb` and `upright` do not overlap.
void turn_upright(std::span<const std::uint8_t> rgb, ImageSize stored,
                  const Orientation& orientation, std::span<std::uint8_t> upright);

}  // namespace medley::data
