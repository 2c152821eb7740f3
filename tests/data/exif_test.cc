#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "data/picture_files.h"
#include "medley/data/image.h"

namespace medley::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& bytes, std::uint32_t number, int count, bool big_endian) {
  for (int i = 0; i < count; ++i) {
    const int shift = 8 * (big_endian ? count - 1 - i : i);
    bytes.push_back(static_cast<std::uint8_t>(number >> shift));
  }
}

/// A TIFF file that says how the picture is turned, and something else before that.
Bytes tiff(std::uint32_t orientation, bool big_endian) {
  Bytes bytes(2, static_cast<std::uint8_t>(big_endian ? 'M' : 'I'));
  put(bytes, 42, 2, big_endian);
  put(bytes, 8, 4, big_endian);
  put(bytes, 2, 2, big_endian);
  for (const std::uint32_t tag : {0x0100u, 0x0112u}) {
    put(bytes, tag, 2, big_endian);
    put(bytes, 3, 2, big_endian);
    put(bytes, 1, 4, big_endian);
    put(bytes, tag == 0x0112 ? orientation : 77, 2, big_endian);
    put(bytes, 0, 2, big_endian);
  }
  put(bytes, 0, 4, big_endian);
  return bytes;
}

Bytes jpeg_with(const Bytes& jpeg, const Bytes& exif) {
  Bytes segment = {0xFF, 0xFF, 0xE1};  // with a filler before the marker
  put(segment, static_cast<std::uint32_t>(exif.size() + 8), 2, true);
  for (const char c : std::string("Exif\0\0", 6)) segment.push_back(static_cast<std::uint8_t>(c));
  segment.insert(segment.end(), exif.begin(), exif.end());
  Bytes file = jpeg;
  file.insert(file.begin() + 2, segment.begin(), segment.end());
  return file;
}

Bytes png_with(const Bytes& png, const Bytes& exif) {
  constexpr std::ptrdiff_t kAfterHeader = 33;
  Bytes chunk;
  for (const char c : std::string("eXIf")) chunk.push_back(static_cast<std::uint8_t>(c));
  chunk.insert(chunk.end(), exif.begin(), exif.end());
  Bytes whole;
  put(whole, static_cast<std::uint32_t>(exif.size()), 4, true);
  whole.insert(whole.end(), chunk.begin(), chunk.end());
  const auto sum = crc32(0, chunk.data(), static_cast<uInt>(chunk.size()));
  put(whole, static_cast<std::uint32_t>(sum), 4, true);
  Bytes file = png;
  file.insert(file.begin() + kAfterHeader, whole.begin(), whole.end());
  return file;
}

/// A gray picture whose pixels are digits.
Image digits(ImageSize size, const std::string& text) {
  Image image{size, {}};
  for (const char c : text) image.rgb.insert(image.rgb.end(), 3, static_cast<std::uint8_t>(c));
  return image;
}

struct Turned {
  std::uint32_t orientation;
  ImageSize size;
  std::string pixels;
};

// What viewers show of 012 above 345.
const Turned kTurned[] = {{1, {2, 3}, "012345"}, {2, {2, 3}, "210543"}, {3, {2, 3}, "543210"},
                          {4, {2, 3}, "345012"}, {5, {3, 2}, "031425"}, {6, {3, 2}, "304152"},
                          {7, {3, 2}, "524130"}, {8, {3, 2}, "251403"}};

TEST(Exif, TurnsPicturesUprightWhenAsked) {
  const Image stored = digits({2, 3}, "012345");
  for (const Turned& turned : kTurned) {
    for (const bool big_endian : {false, true}) {
      const Bytes file = png_with(encode_png(stored), tiff(turned.orientation, big_endian));
      EXPECT_EQ(decode_image(file, "file", {.exif = true}), digits(turned.size, turned.pixels))
          << turned.orientation;
      EXPECT_EQ(decode_image(file, "file"), stored) << turned.orientation;
    }
  }
}

TEST(Exif, OfAJpegIsInItsFirstSegments) {
  const Image image = test::gradient_image({24, 40});
  const Bytes jpeg = test::jpeg_file({}, image.size, image.rgb);
  const Image stored = decode_image(jpeg, "file");
  const Image turned = decode_image(jpeg_with(jpeg, tiff(6, true)), "file", {.exif = true});
  ASSERT_EQ(turned.size, (ImageSize{40, 24}));
  for (std::size_t y = 0; y < 40; ++y) {
    for (std::size_t x = 0; x < 24; ++x) {
      EXPECT_EQ(turned.rgb[3 * (y * 24 + x)], stored.rgb[3 * ((23 - x) * 40 + y)]);
    }
  }
}

TEST(Exif, PartsAreThoseOfTheUprightPicture) {
  const Image image = test::gradient_image({24, 40});
  for (const Turned& turned : kTurned) {
    const Bytes exif = tiff(turned.orientation, false);
    for (const Bytes& file :
         {png_with(encode_png(image), exif),
          jpeg_with(test::jpeg_file({.quality = 100}, image.size, image.rgb), exif)}) {
      const Image whole = decode_image(file, "file", {.exif = true});
      std::vector<std::uint8_t> part(std::size_t{3} * 7 * 9);
      decode_part(file, "file",
                  [&](ImageSize size) {
                    EXPECT_EQ(size, whole.size);
                    return PixelBox{3, 5, 7, 9};
                  },
                  {7, 9}, part, {.exif = true});
      for (std::size_t i = 0; i < part.size(); ++i) {
        const std::size_t row = 3 + i / 27;
        const std::size_t at = (row * static_cast<std::size_t>(whole.size.width) + 5) * 3 + i % 27;
        EXPECT_NEAR(part[i], whole.rgb[at], 8) << turned.orientation << ' ' << i;
      }
    }
  }
}

TEST(Exif, BrokenOnesChangeNothing) {
  const Image image = test::gradient_image({4, 6});
  const Bytes png = encode_png(image);
  const Bytes good = tiff(6, false);
  std::vector<Bytes> broken = {tiff(0, false), tiff(9, false), {}, {'I', 'I'}, {'X', 'X', 42, 0}};
  for (std::size_t length = 0; length < 31; ++length) {
    broken.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
  }
  for (const Bytes& exif : broken) {
    EXPECT_EQ(decode_image(png_with(png, exif), "file", {.exif = true}), image);
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes changed = good;
    changed[i] ^= 0xFF;
    (void)decode_image(png_with(png, changed), "file", {.exif = true});
    (void)decode_image(jpeg_with(test::jpeg_file({}, image.size, image.rgb), changed), "file",
                       {.exif = true});
  }
}

}  // namespace
}  // namespace medley::data
