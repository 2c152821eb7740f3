#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "medley/data/image.h"

namespace medley::test {

/// An empty directory that is removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Number of entries, hidden ones included.
  [[nodiscard]] std::ptrdiff_t entries() const;

 private:
  std::filesystem::path path_;
};

void write_bytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// A PNG file by libpng's writer, of any kind. `samples` holds one number per pixel and channel.
struct PngKind {
  std::int32_t color_type = 2;  ///< 0 gray, 2 RGB, 3 palette, 4 gray + alpha, 6 RGBA
  std::int32_t depth = 8;
  bool interlaced = false;
  bool transparency = false;  ///< adds a tRNS chunk (color types 0, 2 and 3)

  [[nodiscard]] std::int32_t channels() const {
    return color_type == 2 ? 3 : color_type == 4 ? 2 : color_type == 6 ? 4 : 1;
  }
};
[[nodiscard]] std::vector<std::uint8_t> png_file(const PngKind& kind, ImageSize size,
                                                 std::span<const std::uint32_t> samples);
/// The color of palette entry `i` in such files.
[[nodiscard]] std::uint8_t palette_value(std::uint32_t i, int channel);

/// A JPEG file by libjpeg's writer; 1 component is gray, 3 RGB, 4 CMYK.
struct JpegKind {
  std::int32_t components = 3;
  bool progressive = false;
  int quality = 95;
  bool ycck = false;        ///< of four components: stored as YCCK
  bool no_adobe = false;    ///< without the marker that says what colors mean
  bool many_scans = false;  ///< of one component: 253 scans, more than any encoder writes
};
[[nodiscard]] std::vector<std::uint8_t> jpeg_file(const JpegKind& kind, ImageSize size,
                                                  std::span<const std::uint8_t> values);

/// The four channels of a JPEG as libjpeg gives them.
[[nodiscard]] std::vector<std::uint8_t> cmyk_values(std::span<const std::uint8_t> bytes);

/// A file of zeros that takes no room, with other bytes at its start.
void write_sparse(const std::filesystem::path& path, std::span<const std::uint8_t> start,
                  std::uint64_t size);

/// A smooth colorful picture.
[[nodiscard]] data::Image gradient_image(ImageSize size);

/// The text of the IoError that decoding gives, or "" if it gives none.
[[nodiscard]] std::string decode_error(std::span<const std::uint8_t> bytes,
                                       std::string_view name = "file");

}  // namespace medley::test
