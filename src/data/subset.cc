#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/data/dataset.h"

namespace medley::data {
namespace {

/// How many images of each class are kept: equal shares, and one more of the first classes.
std::map<std::int64_t, std::int64_t> shares_of(const ImageSet& images, std::int64_t count,
                                               const std::vector<std::string>& classes) {
  std::map<std::int64_t, std::int64_t> present;
  for (const std::int64_t label : images.labels) ++present[label];
  std::map<std::int64_t, std::int64_t> shares;
  std::int64_t left = count;
  std::int64_t classes_left = std::ssize(present);
  for (const auto& [label, there] : present) {
    const std::int64_t share = (left + classes_left - 1) / classes_left;
    if (share > there) {
      fail_argument(
          fmt::format("{} images in equal shares need {} of class {}, which has {}; ask for fewer",
                      count, share, classes[static_cast<std::size_t>(label)], there));
    }
    shares[label] = share;
    left -= share;
    --classes_left;
  }
  return shares;
}

}  // namespace

ImageSet first_of_each_class(const ImageSet& images, std::int64_t count,
                             const std::vector<std::string>& classes) {
  if (count < 1) fail_argument(fmt::format("the number of images must be >= 1, got {}", count));
  std::map<std::int64_t, std::int64_t> shares = shares_of(images, count, classes);
  ImageSet kept{images.shape, images.layout, {}, {}};
  kept.shape.count = count;
  std::vector<std::filesystem::path> paths;
  const std::int64_t bytes = images.shape.channels * images.shape.size().pixels();
  for (std::size_t i = 0; i < images.labels.size(); ++i) {
    std::int64_t& share = shares.at(images.labels[i]);
    if (share == 0) continue;
    --share;
    kept.labels.push_back(images.labels[i]);
    const auto index = static_cast<std::int64_t>(i);
    if (images.files) {
      paths.push_back(images.files->path(index));
    } else {
      const auto first = images.pixels.begin() + index * bytes;
      kept.pixels.insert(kept.pixels.end(), first, first + bytes);
    }
  }
  if (images.files) {
    kept.files = std::make_shared<const ImageFiles>(std::move(paths), images.files->broken());
  }
  return kept;
}

}  // namespace medley::data
