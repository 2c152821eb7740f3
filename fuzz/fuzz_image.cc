// The image readers take any bytes: a picture of the stated size or IoError.

#include <cstdint>
#include <cstdlib>

#include "medley/data/image.h"
#include "medley/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const medley::Image image = medley::decode_image({data, size}, "fuzz");
    if (static_cast<std::int64_t>(image.rgb.size()) != 3 * image.size.pixels()) std::abort();
  } catch (const medley::IoError&) {
    return 0;
  }
  return 0;
}
