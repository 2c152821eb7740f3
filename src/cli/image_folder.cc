#include "cli/image_folder.h"

#include <fmt/format.h>

#include "medley/error.h"

namespace medley::cli {

ImageFolder::ImageFolder(const std::vector<std::filesystem::path>& files, const Options& options,
                         const Tick& tick)
    : exif_(options.exif) {
  const auto note = [this](const std::string& text) { notes_.push_back(text); };
  std::int64_t kept_bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    data::Image image;
    try {
      image = data::read_image(files[i], {.exif = exif_, .note = note});
    } catch (const IoError& problem) {
      if (!options.skip_broken) throw;
      problems_.emplace_back(problem.what());
      tick();
      continue;
    }
    if (files_.empty()) size_ = options.size.value_or(image.size);
    if (image.size != size_) ++resized_;
    files_.push_back(files[i]);
    used_.push_back(i);
    // Only a prefix is kept, so that an index finds its image without a table.
    kept_bytes += 3 * size_.pixels();
    if (kept_bytes <= kKeptBytes) kept_.push_back(data::resize(image, size_));
    tick();
  }
  if (files_.empty()) {
    throw IoError(problems_.empty()
                      ? std::string("the folder holds no PNG or JPEG files")
                      : fmt::format("none of the {} images can be read; the first: {}",
                                    files.size(), problems_.front()));
  }
}

data::Image ImageFolder::load(std::int64_t index) const {
  const auto at = static_cast<std::size_t>(index);
  return at < kept_.size() ? kept_[at]
                           : data::resize(data::read_image(files_.at(at), {.exif = exif_}), size_);
}

}  // namespace medley::cli
