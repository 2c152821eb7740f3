#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/data/dataset.h"

namespace medley::data {

ImageData read_fashion_mnist(const std::filesystem::path& folder, Parts parts) {
  if (folder == kFashionMnistFolder && !std::filesystem::is_directory(folder)) {
    fail_io(
        fmt::format("{} is not there: install Debian's package dataset-fashion-mnist, or name the "
                    "folder of its four files with fashion-mnist:DIR",
                    folder.string()));
  }
  ImageData data = read_idx(folder, parts);
  const std::vector<std::string> names = {"T-shirt/top", "trouser",   "pullover", "dress",
                                          "coat",        "sandal",    "shirt",    "sneaker",
                                          "bag",         "ankle boot"};
  if (data.num_classes() != std::ssize(names)) {
    fail_io(fmt::format("{} has {} classes, Fashion-MNIST has {}", folder.string(),
                        data.num_classes(), names.size()));
  }
  data.classes = names;
  return data;
}

}  // namespace medley::data
