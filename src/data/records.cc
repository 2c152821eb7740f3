#include "data/records.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"

namespace medley::data {

std::vector<std::string> read_names(const std::filesystem::path& path) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::vector<std::string> names;
  if (!std::filesystem::exists(path)) return names;
  const std::vector<std::uint8_t> bytes = read_file(path, kMost);
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

std::vector<std::string> numbered_names(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

namespace {

/// A class that test images have and training images do not.
std::optional<std::int64_t> first_unknown(const ImageSet& test,
                                          const std::vector<std::int64_t>& train_labels) {
  const std::set<std::int64_t> known(train_labels.begin(), train_labels.end());
  for (const std::int64_t label : test.labels) {
    if (!known.contains(label)) return label;
  }
  return std::nullopt;
}

}  // namespace

ImageData data_of(ImageSet train, ImageSet test, const std::filesystem::path& folder) {
  if (train.count() == 0 || test.count() == 0) {
    fail_io(fmt::format("{} needs training and test images, got {} and {}", folder.string(),
                        train.count(), test.count()));
  }
  const BatchShape& a = train.shape;
  const BatchShape& b = test.shape;
  if (a.channels != b.channels || a.size() != b.size()) {
    fail_io(
        fmt::format("{}: training images are {}x{}x{} (channels, height, width), test images "
                    "{}x{}x{}",
                    folder.string(), a.channels, a.height, a.width, b.channels, b.height, b.width));
  }
  ImageData data = test_data_of(std::move(test), train.labels, folder);
  data.train = std::move(train);
  return data;
}

ImageData test_data_of(ImageSet test, const std::vector<std::int64_t>& train_labels,
                       const std::filesystem::path& folder) {
  if (test.count() == 0) fail_io(fmt::format("{} has no test images", folder.string()));
  const std::vector<std::int64_t>& known = train_labels.empty() ? test.labels : train_labels;
  if (const std::optional<std::int64_t> label = first_unknown(test, known)) {
    fail_io(fmt::format("{}: test images have class {}, which the training images do not have",
                        folder.string(), *label));
  }
  std::vector<std::string> classes = numbered_names(*std::ranges::max_element(known) + 1);
  return {{}, std::move(test), std::move(classes)};
}

}  // namespace medley::data
