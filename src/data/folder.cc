#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "medley/data/dataset.h"
#include "medley/data/image.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;

struct Listing {
  std::vector<fs::path> paths;
  std::vector<std::int64_t> labels;
};

using ClassIndex = std::map<std::string, std::int64_t>;

/// Folders within a folder, by name, without hidden ones.
std::vector<fs::path> subfolders(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> found;
  fs::directory_iterator entries(folder, problem);
  for (; !problem && entries != fs::directory_iterator(); entries.increment(problem)) {
    std::error_code ignored;
    if (is_hidden(entries->path())) continue;
    if (entries->is_directory(ignored)) found.push_back(entries->path());
  }
  if (problem) fail_io(fmt::format("cannot list {}: {}", folder.string(), problem.message()));
  std::sort(found.begin(), found.end());
  return found;
}

/// All images in a folder and the folders in it. Links may lead back to folders that were `seen`.
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

/// Whether a name leads to a place within the folder that it is in.
bool stays_within(const fs::path& name) {
  return name.is_relative() && std::ranges::find(name, "..") == name.end();
}

/// A line of val_annotations.txt: image, class, and a box that is not used.
struct Annotation {
  int line;
  std::string image;
  std::string label;
};

/// What an error quotes of a text.
std::string shown(const std::string& text) { return text.substr(0, 80); }

std::vector<Annotation> read_annotations(const fs::path& table) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  const std::vector<std::uint8_t> bytes = read_file(table, kMostBytes);
  std::istringstream file(std::string(bytes.begin(), bytes.end()));
  std::vector<Annotation> annotations;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream fields(line);
    Annotation a{number, {}, {}};
    if (!(fields >> a.image)) continue;
    if (!(fields >> a.label)) {
      fail_io(fmt::format("{}, line {}: expected an image and its class, got \"{}\"",
                          table.string(), number, shown(line)));
    }
    if (!stays_within(a.image)) {
      fail_io(fmt::format("{}, line {}: expected an image within {}, got \"{}\"", table.string(),
                          number, (table.parent_path() / "images").string(), shown(a.image)));
    }
    annotations.push_back(std::move(a));
  }
  if (annotations.empty()) fail_io(fmt::format("{} lists no images", table.string()));
  return annotations;
}

/// Tiny ImageNet: FOLDER/images/….JPEG, their classes in FOLDER/val_annotations.txt.
Listing list_annotated(const fs::path& folder, const fs::path& table, const ClassIndex& classes) {
  Listing listing;
  for (const Annotation& a : read_annotations(table)) {
    const auto known = classes.find(a.label);
    if (known == classes.end()) {
      fail_io(fmt::format("{}, line {}: expected one of the {} classes, got \"{}\"", table.string(),
                          a.line, classes.size(), shown(a.label)));
    }
    listing.paths.push_back(folder / "images" / a.image);
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

fs::path annotations_of(const fs::path& folder) { return folder / "val_annotations.txt"; }

Listing list_test(const fs::path& folder, const ClassIndex& classes) {
  const fs::path table = annotations_of(folder);
  if (fs::exists(table)) return list_annotated(folder, table, classes);
  Listing listing = list_classes(folder, classes);
  if (listing.paths.empty()) {
    fail_io(fmt::format("{} has neither a folder per class nor a val_annotations.txt",
                        folder.string()));
  }
  return listing;
}

/// The classes of the training images where they are, else those of the test images; sorted.
std::vector<std::string> class_names(const fs::path& folder, Parts parts) {
  const fs::path train = folder / "train";
  const bool has_train = fs::is_directory(train);
  if (!has_train && parts == Parts::all) {
    fail_io(
        fmt::format("{} has no folder train with a folder of images per class", folder.string()));
  }
  const fs::path source = has_train ? train : test_folder(folder);
  std::set<std::string> names;
  if (!has_train && fs::exists(annotations_of(source))) {
    for (const Annotation& a : read_annotations(annotations_of(source))) names.insert(a.label);
  } else {
    for (const fs::path& inner : subfolders(source)) names.insert(inner.filename().string());
  }
  if (names.size() < 2) {
    fail_io(
        fmt::format("{} has {} class folders, expected at least 2", source.string(), names.size()));
  }
  return {names.begin(), names.end()};
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

ImageData read_folder(const fs::path& folder, ImageFiles::Broken broken, Parts parts) {
  if (!fs::is_directory(folder)) fail_io(fmt::format("{} is not a folder", folder.string()));
  ImageData data;
  data.classes = class_names(folder, parts);
  ClassIndex classes;
  for (const std::string& name : data.classes) classes.emplace(name, std::ssize(classes));
  if (parts == Parts::all) data.train = set_of(list_classes(folder / "train", classes), broken);
  data.test = set_of(list_test(test_folder(folder), classes), broken);
  return data;
}

}  // namespace medley::data
