#include <algorithm>

#include "data/codec.h"
#include "data/resample.h"
#include "medley/data/image.h"

namespace medley::data {

Image resize(const Image& image, ImageSize size) {
  check_pixels(image.size, image.rgb.size(), 3);
  check_pixels(size, static_cast<std::size_t>(std::max<std::int64_t>(size.pixels(), 0)), 1);
  if (size == image.size) return image;
  const auto [height, width] = image.size;
  Image result{size, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * size.pixels()))};
  resample({image.rgb.data(), static_cast<std::size_t>(width) * 3, image.size},
           {0, 0, static_cast<double>(height), static_cast<double>(width)}, size,
           result.rgb.data());
  return result;
}

}  // namespace medley::data
