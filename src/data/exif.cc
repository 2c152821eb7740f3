#include "data/exif.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace medley::data {
namespace {

using Bytes = std::span<const std::uint8_t>;

bool begins_with(Bytes bytes, std::string_view start) {
  return bytes.size() >= start.size() &&
         std::equal(start.begin(), start.end(), bytes.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

/// Numbers of `count` bytes; 0 where the bytes end.
std::size_t number_at(Bytes bytes, std::size_t at, std::size_t count, bool big_endian) {
  if (at > bytes.size() || count > bytes.size() - at) return 0;
  std::size_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    number = number << 8 | bytes[at + (big_endian ? i : count - 1 - i)];
  }
  return number;
}

Bytes part_of(Bytes bytes, std::size_t at, std::size_t count) {
  if (at > bytes.size()) return {};
  return bytes.subspan(at, std::min(count, bytes.size() - at));
}

/// The block of Exif data, which is a small TIFF file, of a JPEG.
Bytes exif_of_jpeg(Bytes file) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  constexpr std::size_t kStartOfScan = 0xDA;
  constexpr std::size_t kApp1 = 0xE1;
  for (std::size_t at = 2; at + 4 <= file.size();) {
    if (file[at] != 0xFF) return {};
    if (file[at + 1] == 0xFF) {  // a filler
      ++at;
      continue;
    }
    const std::size_t marker = file[at + 1];
    const std::size_t length = number_at(file, at + 2, 2, true);
    if (marker == kStartOfScan || length < 2) return {};
    const Bytes segment = part_of(file, at + 4, length - 2);
    if (marker == kApp1 && begins_with(segment, kExif)) return segment.subspan(kExif.size());
    at += 2 + length;
  }
  return {};
}

Bytes exif_of_png(Bytes file) {
  constexpr std::size_t kAround = 12;  // length, type and checksum
  for (std::size_t at = 8; at + kAround <= file.size();) {
    const std::size_t length = number_at(file, at, 4, true);
    if (begins_with(part_of(file, at + 4, 4), "eXIf")) return part_of(file, at + 8, length);
    at += kAround + length;
  }
  return {};
}

/// The orientation in the first directory of a TIFF file, 1 to 8, or 0.
std::size_t orientation_of(Bytes tiff) {
  constexpr std::size_t kEntry = 12;
  constexpr std::size_t kOrientation = 0x0112;
  constexpr std::size_t kShort = 3;
  const bool big_endian = begins_with(tiff, "MM");
  if (!big_endian && !begins_with(tiff, "II")) return 0;
  if (number_at(tiff, 2, 2, big_endian) != 42) return 0;
  const std::size_t directory = number_at(tiff, 4, 4, big_endian);
  const std::size_t entries = number_at(tiff, directory, 2, big_endian);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * kEntry;
    if (number_at(tiff, at, 2, big_endian) != kOrientation) continue;
    return number_at(tiff, at + 2, 2, big_endian) == kShort ? number_at(tiff, at + 8, 2, big_endian)
                                                            : 0;
  }
  return 0;
}

}  // namespace

Orientation exif_orientation(Bytes file) {
  constexpr std::array<Orientation, 9> kKnown = {{{},
                                                  {},
                                                  {false, false, true},
                                                  {false, true, true},
                                                  {false, true, false},
                                                  {true, false, false},
                                                  {true, true, false},
                                                  {true, true, true},
                                                  {true, false, true}}};
  const bool png = begins_with(file, "\x89PNG");
  const std::size_t number = orientation_of(png ? exif_of_png(file) : exif_of_jpeg(file));
  return number < kKnown.size() ? kKnown[number] : Orientation{};
}

PixelBox stored_box(const PixelBox& box, const Orientation& o, ImageSize stored) {
  PixelBox result = o.transposed ? PixelBox{box.left, box.top, box.width, box.height} : box;
  if (o.rows_flipped) result.top = stored.height - result.top - result.height;
  if (o.columns_flipped) result.left = stored.width - result.left - result.width;
  return result;
}

void turn_upright(Bytes rgb, ImageSize stored, const Orientation& o,
                  std::span<std::uint8_t> upright) {
  const auto [height, width] = o.turned(stored);
  std::size_t to = 0;
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = 0; x < width; ++x, to += 3) {
      const std::int32_t a = o.transposed ? x : y;
      const std::int32_t b = o.transposed ? y : x;
      const std::int64_t row = o.rows_flipped ? stored.height - 1 - a : a;
      const std::int64_t column = o.columns_flipped ? stored.width - 1 - b : b;
      const auto from = static_cast<std::size_t>(3 * (row * stored.width + column));
      for (std::size_t c = 0; c < 3; ++c) upright[to + c] = rgb[from + c];
    }
  }
}

}  // namespace medley::data
