#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "medley/types.h"

namespace medley::data {

/// A color image: 8-bit RGB, interleaved, rows from top to bottom without gaps.
/// `rgb` holds 3 * size.pixels() values.
struct Image {
  ImageSize size;
  std::vector<std::uint8_t> rgb;

  friend bool operator==(const Image&, const Image&) = default;
};

/// Greatest image that is read, written, made or mixed: pixels in all, and pixels on a side.
inline constexpr std::int64_t kMaxImagePixels = std::int64_t{1} << 27;
inline constexpr std::int32_t kMaxImageSide = 32768;

/// The image as a batch of one, for `mix`; valid as long as `image` is.
/// Throws InvalidArgument if `rgb` does not fit `size`.
[[nodiscard]] ImageBatchView view_of(const Image& image);

/// How images are decoded.
struct DecodeOptions {
  /// Turn and mirror the image as its Exif orientation says, as viewers do.
  bool exif = false;
  /// Takes a sentence where a damaged image is decoded nonetheless; none: nobody is told.
  std::function<void(const std::string&)> note = nullptr;
};

/// Decodes a PNG or JPEG file that lies in memory; `name` is what error texts call it.
///
/// The format is recognized by content. Pixels come as they are stored: no gamma or profile is
/// applied and transparency is dropped (as training pipelines do when they convert to RGB). Gray,
/// palette and low bit depths are expanded, 16 bits rounded to 8. CMYK and YCCK JPEGs are converted
/// as Pillow does: taken as inverted, which is how Adobe writes them, and multiplied by black. A
/// JPEG with a marker where there should be none is decoded as far as it goes, the rest as libjpeg
/// fills it, with a note. Throws IoError for anything else, including files that are truncated,
/// fail a checksum, exceed the limits above or have more scans than encoders write; sizes are
/// checked before memory is taken.
[[nodiscard]] Image decode_image(std::span<const std::uint8_t> bytes, std::string_view name,
                                 const DecodeOptions& options = {});

/// Part of an image, in its pixels.
struct PixelBox {
  std::int32_t top = 0;
  std::int32_t left = 0;
  std::int32_t height = 0;
  std::int32_t width = 0;

  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

/// Which part to take of an image of that size: within it, and not empty.
using BoxChoice = std::function<PixelBox(ImageSize)>;

/// Decodes a part of a PNG or JPEG file, resized as by `resize`, into `rgb`: 3 * size.pixels()
/// values, interleaved. `choose` sees the image as `options` turn it. Of a JPEG no more is
/// decoded than that takes, and large parts at a half, a quarter or an eighth of their size, which
/// moves values by a few units. Throws as `decode_image`, except that damage outside the part may
/// go unnoticed; InvalidArgument if the box or `rgb` does not fit.
void decode_part(std::span<const std::uint8_t> bytes, std::string_view name,
                 const BoxChoice& choose, ImageSize size, std::span<std::uint8_t> rgb,
                 const DecodeOptions& options = {});

/// Reads and decodes a file. Throws IoError, like `decode_image` and if it cannot be read or is no
/// regular file; what it begins with is judged before the rest is read.
[[nodiscard]] Image read_image(const std::filesystem::path& path,
                               const DecodeOptions& options = {});

/// A PNG file in memory, RGB or (with one value per pixel) gray, 8 bits.
/// Throws InvalidArgument if the number of values does not fit the size.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);
/// The same for one value per pixel.
[[nodiscard]] std::vector<std::uint8_t> encode_png_gray(ImageSize size,
                                                        std::span<const std::uint8_t> gray);

/// Writes a PNG file. The file appears complete or not at all: it is written under another name in
/// the same directory and then renamed, which replaces an existing file. Throws IoError.
void write_png(const std::filesystem::path& path, const Image& image);
/// The same for one value per pixel.
void write_png_gray(const std::filesystem::path& path, ImageSize size,
                    std::span<const std::uint8_t> gray);

/// Resamples with a triangle filter, widened when shrinking so that nothing aliases (what other
/// libraries call antialiased bilinear). The same size gives the same pixels, and a constant
/// image stays constant. Deterministic. Throws InvalidArgument for sizes out of the limits.
[[nodiscard]] Image resize(const Image& image, ImageSize size);

/// The files of a directory whose names end in .png, .jpg or .jpeg (in any case), sorted by name;
/// hidden ones, whose names begin with a dot, are left out and subdirectories are not entered.
/// Throws IoError if the directory cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> list_images(
    const std::filesystem::path& directory);

/// Pictures in files, of any sizes, decoded when they are asked for. Safe to read from several
/// threads.
class ImageFiles {
 public:
  /// What becomes of files that cannot be decoded.
  enum class Broken : std::uint8_t { refuse, skip };

  /// `broken` says what `read` does about files that cannot be decoded. Throws IoError if a file is
  /// not there.
  ImageFiles(std::vector<std::filesystem::path> paths, Broken broken);
  ~ImageFiles();
  ImageFiles(const ImageFiles&) = delete;
  ImageFiles& operator=(const ImageFiles&) = delete;

  /// Number of files.
  [[nodiscard]] std::int64_t count() const noexcept;
  /// What was asked for.
  [[nodiscard]] Broken broken() const noexcept;
  /// Path of a file, 0 <= index < count().
  [[nodiscard]] const std::filesystem::path& path(std::int64_t index) const;

  /// Decodes a part of image `index`, resized, into `rgb` (3 * size.pixels() values,
  /// interleaved), with `exif` turned as its Exif orientation says. A broken file makes it throw
  /// IoError or, if such are skipped, return false.
  [[nodiscard]] bool read(std::int64_t index, const BoxChoice& choose, ImageSize size,
                          std::span<std::uint8_t> rgb, bool exif = false) const;

  /// A sentence for each file that was met for the first time since the last call and was left out,
  /// or is damaged and was decoded nonetheless.
  [[nodiscard]] std::vector<std::string> new_notes() const;
  /// Broken files that were met so far.
  [[nodiscard]] std::int64_t broken_count() const;

  /// Of the names, within their common folder, and lengths of all files, and of the bytes of some:
  /// the first, middle and last 4 KiB of up to 1024 files, evenly spread: all files if there are no
  /// more, and all bytes of those up to 12 KiB. Other changes go unseen.
  [[nodiscard]] const std::string& fingerprint() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A crop that shows `least_area` to `most_area` of an image, with sides of a ratio of 1/aspect to
/// aspect (uniform on a logarithmic scale), as networks on photographs are trained. The same seed,
/// epoch and image give the same crop.
struct RandomCrop {
  double least_area = 0.08;
  double aspect = 4.0 / 3;
  double most_area = 1;

  /// The part of an image of that size.
  [[nodiscard]] PixelBox box(ImageSize whole, std::uint64_t seed, std::uint64_t epoch,
                             std::int64_t picture) const;
};

/// What a square of side `size` in the middle shows of an image whose shorter side was resized to
/// `shorter` >= size.
[[nodiscard]] PixelBox central_box(ImageSize whole, std::int32_t size, std::int32_t shorter);

}  // namespace medley::data
