// The image readers take any bytes: a picture of the stated size, or a part of one, or IoError.

#include <array>
#include <cstdint>
#include <cstdlib>

#include "medley/data/image.h"
#include "medley/error.h"

namespace {

/// A part that depends on the bytes, so that every place is tried.
medley::data::PixelBox some_part(medley::ImageSize whole, std::uint32_t number) {
  const auto within = [&](std::int32_t side) {
    const auto length = static_cast<std::int32_t>(number % static_cast<std::uint32_t>(side)) + 1;
    number /= 7;
    return length;
  };
  const std::int32_t height = within(whole.height);
  const std::int32_t width = within(whole.width);
  return {within(whole.height - height + 1) - 1, within(whole.width - width + 1) - 1, height,
          width};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    std::uint32_t number = 2166136261u;
    for (std::size_t i = 0; i < size; ++i) number = (number ^ data[i]) * 16777619u;
    std::array<std::uint8_t, 3 * 6 * 5> rgb{};
    medley::data::decode_part({data, size}, "fuzz",
                              [&](medley::ImageSize whole) { return some_part(whole, number); },
                              {6, 5}, rgb, {.exif = true});
  } catch (const medley::IoError&) {
  }
  try {
    const medley::data::Image image =
        medley::data::decode_image({data, size}, "fuzz", {.exif = true});
    if (static_cast<std::int64_t>(image.rgb.size()) != 3 * image.size.pixels()) std::abort();
  } catch (const medley::IoError&) {
  }
  return 0;
}
