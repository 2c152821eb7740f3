#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "medley/data/dataset.h"

namespace medley::bench {

/// A folder of photograph-like JPEGs of one size (drawn scenes with noise, quality 90), removed at
/// the end.
class PictureFolder {
 public:
  PictureFolder(std::int64_t count, ImageSize size);
  ~PictureFolder();
  PictureFolder(const PictureFolder&) = delete;
  PictureFolder& operator=(const PictureFolder&) = delete;

  [[nodiscard]] const std::vector<std::filesystem::path>& paths() const { return paths_; }
  [[nodiscard]] std::uintmax_t bytes() const { return bytes_; }
  [[nodiscard]] data::ImageSet images() const;

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> paths_;
  std::uintmax_t bytes_ = 0;
};

/// What a plain loader does: decodes the whole picture, cuts out the box and resizes it with an
/// antialiased bilinear filter, one pixel after the other.
void decode_plainly(const std::filesystem::path& path, const data::PixelBox& box, ImageSize size,
                    std::uint8_t* rgb);

}  // namespace medley::bench
