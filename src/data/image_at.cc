#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/data/dataset.h"

namespace medley::data {

Image image_at(const ImageSet& images, std::int64_t index) {
  if (index < 0 || index >= images.count()) {
    fail_argument(fmt::format("image {} of a set of {} was asked for", index, images.count()));
  }
  Image image;
  if (images.files) {
    constexpr std::int32_t kSide = 96;
    image.size = {kSide, kSide};
    image.rgb.resize(static_cast<std::size_t>(3 * image.size.pixels()), 255);
    const auto middle = [](ImageSize whole) { return central_box(whole, kSide, kSide); };
    (void)images.files->read(index, middle, image.size, image.rgb);  // a skipped one stays white
    return image;
  }
  image.size = images.shape.size();
  const std::int64_t channels = images.shape.channels;
  const std::int64_t pixels = image.size.pixels();
  const std::uint8_t* values = images.pixels.data() + index * channels * pixels;
  const bool planes = images.layout == Layout::nchw;
  image.rgb.resize(static_cast<std::size_t>(3 * pixels));
  for (std::int64_t p = 0; p < pixels; ++p) {
    for (std::int64_t c = 0; c < 3; ++c) {
      const std::int64_t channel = std::min(c, channels - 1);
      image.rgb[static_cast<std::size_t>(3 * p + c)] =
          values[planes ? channel * pixels + p : p * channels + channel];
    }
  }
  return image;
}

}  // namespace medley::data
