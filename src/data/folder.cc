#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/data/dataset.h"
#include "medley/data/image_files.h"

namespace medley {
namespace {

namespace fs = std::filesystem;

struct Listing {
  std::vector<fs::path> paths;
  std::vector<std::int64_t> labels;
};

using ClassIndex = std::map<std::string, std::int64_t>;

/// Folders within a folder, by name.
std::vector<fs::path> subfolders(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> found;
  fs::directory_iterator entries(folder, problem);
  for (; !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
    std::error_code ignored;
    if (entries->is_directory(ignored)) found.push_back(entries->path());
  }
  if (problem) fail_io(fmt::format("cannot list {}: {}", folder.string(), problem.message()));
  std::sort(found.begin(), found.end());
  return found;
}

/// All pictures in a folder and the folders in it. Links may lead back to folders that were `seen`.
void list_deep(const fs::path& folder, std::set<fs::path>& seen, std::vector<fs::path>& paths) {
  if (!seen.insert(fs::canonical(folder)).second) return;
  const std::vector<fs::path> here = list_images(folder);
  paths.insert(paths.end(), here.begin(), here.end());
  for (const fs::path& inner : subfolders(folder)) list_deep(inner, seen, paths);
}

/// FOLDER/CLASS/….jpg
Listing list_classes(const fs::path& folder, const ClassIndex& classes) {
  Listing listing;
  for (const fs::path& inner : subfolders(folder)) {
    const auto known = classes.find(inner.filename().string());
    if (known == classes.end()) {
      fail_io(fmt::format("{} is a class that the training images do not have", inner.string()));
    }
    const std::size_t before = listing.paths.size();
    std::set<fs::path> seen;
    list_deep(inner, seen, listing.paths);
    if (listing.paths.size() == before) fail_io(fmt::format("{} has no images", inner.string()));
    listing.labels.resize(listing.paths.size(), known->second);
  }
  return listing;
}

/// Tiny ImageNet: FOLDER/images/….JPEG, their classes in FOLDER/val_annotations.txt.
Listing list_annotated(const fs::path& folder, const fs::path& table, const ClassIndex& classes) {
  std::ifstream file(table);
  if (!file) fail_io(fmt::format("cannot open {}", table.string()));
  Listing listing;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream fields(line);
    std::string name;
    std::string label;
    if (!(fields >> name)) continue;
    const auto known = fields >> label ? classes.find(label) : classes.end();
    if (known == classes.end()) {
      fail_io(fmt::format("{}, line {}: expected an image and one of the {} classes, got \"{}\"",
                          table.string(), number, classes.size(), line));
    }
    listing.paths.push_back(folder / "images" / name);
    listing.labels.push_back(known->second);
  }
  return listing;
}

fs::path test_folder(const fs::path& folder) {
  for (const char* name : {"val", "validation", "test"}) {
    if (fs::is_directory(folder / name)) return folder / name;
  }
  fail_io(
      fmt::format("{} has no folder val, validation or test with test images", folder.string()));
}

Listing list_test(const fs::path& folder, const ClassIndex& classes) {
  const fs::path table = folder / "val_annotations.txt";
  if (fs::exists(table)) {
    Listing listing = list_annotated(folder, table, classes);
    if (listing.paths.empty()) fail_io(fmt::format("{} lists no images", table.string()));
    return listing;
  }
  Listing listing = list_classes(folder, classes);
  if (listing.paths.empty()) {
    fail_io(fmt::format("{} has neither a folder per class nor a val_annotations.txt",
                        folder.string()));
  }
  return listing;
}

ImageSet set_of(Listing listing, ImageFiles::Broken broken) {
  ImageSet set;
  set.shape = {std::ssize(listing.paths), 3, 0, 0};
  set.layout = Layout::nhwc;
  set.labels = std::move(listing.labels);
  set.files = std::make_shared<ImageFiles>(std::move(listing.paths), broken);
  return set;
}

}  // namespace

ImageData read_folder(const fs::path& folder, ImageFiles::Broken broken) {
  if (!fs::is_directory(folder)) fail_io(fmt::format("{} is not a folder", folder.string()));
  const fs::path train = folder / "train";
  if (!fs::is_directory(train)) {
    fail_io(
        fmt::format("{} has no folder train with a folder of images per class", folder.string()));
  }
  ImageData data;
  ClassIndex classes;
  for (const fs::path& inner : subfolders(train)) {
    classes.emplace(inner.filename().string(), std::ssize(data.classes));
    data.classes.push_back(inner.filename().string());
  }
  if (data.classes.size() < 2) {
    fail_io(fmt::format("{} has {} class folders, expected at least 2", train.string(),
                        data.classes.size()));
  }
  data.train = set_of(list_classes(train, classes), broken);
  data.test = set_of(list_test(test_folder(folder), classes), broken);
  return data;
}

}  // namespace medley
