#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "medley/data/image.h"
#include "medley/types.h"

namespace medley::data {

/// Pictures in files, of any sizes, decoded when they are asked for. Safe to read from several
/// threads.
class ImageFiles {
 public:
  enum class Broken : std::uint8_t { refuse, skip };

  /// `broken` says what `read` does about files that cannot be decoded. Throws IoError if a file is
  /// not there.
  ImageFiles(std::vector<std::filesystem::path> paths, Broken broken);
  ~ImageFiles();
  ImageFiles(const ImageFiles&) = delete;
  ImageFiles& operator=(const ImageFiles&) = delete;

  [[nodiscard]] std::int64_t count() const noexcept;
  [[nodiscard]] Broken broken() const noexcept;
  [[nodiscard]] const std::filesystem::path& path(std::int64_t index) const;

  /// Decodes a part of picture `index`, resized, into `rgb` (3 * size.pixels() values,
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

/// A crop that shows `least_area` to `most_area` of a picture, with sides of a ratio of 1/aspect to
/// aspect (uniform on a logarithmic scale), as networks on photographs are trained. The same seed,
/// epoch and picture give the same crop.
struct RandomCrop {
  double least_area = 0.08;
  double aspect = 4.0 / 3;
  double most_area = 1;

  [[nodiscard]] PixelBox box(ImageSize whole, std::uint64_t seed, std::uint64_t epoch,
                             std::int64_t picture) const;
};

/// What a square of side `size` in the middle shows of a picture whose shorter side was resized to
/// `shorter` >= size.
[[nodiscard]] PixelBox central_box(ImageSize whole, std::int32_t size, std::int32_t shorter);

}  // namespace medley::data
