#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "medley/data/image.h"

namespace medley::cli {

/// The images of a folder, all of one size, sorted by name. Every file is read once to find the
/// broken ones; as many as fit in `kKeptBytes` stay in memory, the others are read again when asked
/// for.
class ImageFolder {
 public:
  static constexpr std::int64_t kKeptBytes = std::int64_t{1} << 30;

  struct Options {
    std::optional<ImageSize> size;  ///< absent: that of the first image
    bool skip_broken = false;
    bool exif = false;  ///< turn images as their Exif orientation says
  };
  /// Called after each file; may throw to stop.
  using Tick = std::function<void()>;

  /// Throws IoError if the folder holds no images, or a broken one that is not to be skipped.
  ImageFolder(const std::vector<std::filesystem::path>& files, const Options& options,
              const Tick& tick);

  [[nodiscard]] std::int64_t count() const noexcept { return std::ssize(files_); }
  [[nodiscard]] ImageSize size() const noexcept { return size_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept { return files_; }
  /// What was wrong with each file that was skipped.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }
  /// What is damaged about images that are used.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// Positions, in the list of files handed in, of those that are used.
  [[nodiscard]] const std::vector<std::size_t>& used() const noexcept { return used_; }
  /// Images whose size differed.
  [[nodiscard]] std::int64_t resized() const noexcept { return resized_; }

  /// The image in the common size. Throws IoError if it has to be read again and cannot be.
  [[nodiscard]] data::Image load(std::int64_t index) const;

 private:
  ImageSize size_;
  bool exif_;
  std::int64_t resized_ = 0;
  std::vector<std::filesystem::path> files_;
  std::vector<std::size_t> used_;
  std::vector<std::string> problems_;
  std::vector<std::string> notes_;
  std::vector<data::Image> kept_;  // of the first files
};

}  // namespace medley::cli
