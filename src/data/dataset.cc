#include "medley/data/dataset.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/check.h"
#include "core/parallel.h"
#include "data/content_hash.h"
#include "data/synthetic/scene.h"
#include "medley/random.h"

namespace medley::data {
namespace {

ImageSet draw_set(const SyntheticOptions& o, std::int64_t count, std::uint64_t part) {
  ImageSet set;
  set.shape = {count, 3, o.size, o.size};
  set.layout = Layout::nhwc;
  const std::int64_t values = 3 * set.shape.size().pixels();
  set.pixels.resize(static_cast<std::size_t>(count * values));
  for (std::int64_t i = 0; i < count; ++i) set.labels.push_back(i % o.classes);
  parallel_for(count, 0, [&](std::int64_t i) {
    RandomStream random(o.seed, part, static_cast<std::uint64_t>(i), Purpose::picture);
    const auto& object = synthetic::objects()[static_cast<std::size_t>(i % o.classes)];
    const Image image = synthetic::render_cluttered(random, object, {o.size, o.size}, o.scale);
    std::copy(image.rgb.begin(), image.rgb.end(), set.pixels.begin() + i * values);
  });
  return set;
}

template <typename Number>
void parse_number(std::string_view option, std::string_view text, Number& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) {
    fail_argument(fmt::format("synthetic {} must be a number, got \"{}\"", option, text));
  }
}

SyntheticOptions parse_synthetic(std::string_view text) {
  SyntheticOptions o;
  std::set<std::string_view> given;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
    if (!given.insert(name).second) {
      fail_argument(fmt::format("synthetic {} is given twice", name));
    }
    if (name == "train") {
      parse_number(name, value, o.train);
    } else if (name == "test") {
      parse_number(name, value, o.test);
    } else if (name == "size") {
      parse_number(name, value, o.size);
    } else if (name == "classes") {
      parse_number(name, value, o.classes);
    } else if (name == "scale") {
      parse_number(name, value, o.scale);
    } else if (name == "seed") {
      parse_number(name, value, o.seed);
    } else {
      fail_argument(fmt::format(
          "synthetic data has train, test, size, classes, scale and seed, not \"{}\"", name));
    }
  }
  return o;
}

/// What a shell makes of ~ and ~/DIR, which it does not at the end of a word.
std::filesystem::path expanded(const std::string& folder) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || (folder != "~" && !folder.starts_with("~/"))) return folder;
  return home + folder.substr(1);
}

}  // namespace

ImageBatchView view_of(const ImageSet& images) {
  return view_of(std::span<const std::uint8_t>(images.pixels), images.shape, images.layout);
}

std::string fingerprint(const ImageSet& images) {
  std::string parts = images.files ? images.files->fingerprint() : content_hash(images.pixels);
  for (const std::int64_t label : images.labels) parts += fmt::format(" {}", label);
  return content_hash({reinterpret_cast<const std::uint8_t*>(parts.data()), parts.size()});
}

ImageData make_synthetic(const SyntheticOptions& o, Parts parts) {
  require_between("synthetic train", static_cast<double>(o.train), 1, 1e7);
  require_between("synthetic test", static_cast<double>(o.test), 1, 1e7);
  require_between("synthetic size", o.size, 8, 1024);
  require_between("synthetic classes", o.classes, 2, kSyntheticClasses);
  require_between("synthetic scale", o.scale, 0.05, 1);
  ImageData data;
  if (parts == Parts::all) data.train = draw_set(o, o.train, 1);
  data.test = draw_set(o, o.test, 2);
  for (std::int32_t c = 0; c < o.classes; ++c) data.classes.emplace_back(synthetic_class_name(c));
  return data;
}

ImageData open_data(const std::string& text, ImageFiles::Broken broken, Parts parts) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "synthetic") return make_synthetic(parse_synthetic(rest), parts);
  if (text == "fashion-mnist") return read_fashion_mnist(kFashionMnistFolder, parts);
  using Reader = ImageData (*)(const std::filesystem::path&, Parts);
  static const std::map<std::string, Reader> readers = {{"cifar10", read_cifar10},
                                                        {"cifar100", read_cifar100},
                                                        {"fashion-mnist", read_fashion_mnist},
                                                        {"idx", read_idx},
                                                        {"npy", read_npy}};
  const auto reader = readers.find(kind);
  if (reader == readers.end() && kind != "folder") {
    fail_argument(
        fmt::format("data must be synthetic, fashion-mnist, cifar10:DIR, cifar100:DIR, idx:DIR, "
                    "npy:DIR or folder:DIR, got \"{}\"",
                    text));
  }
  if (rest.empty()) fail_argument(fmt::format("{} needs a folder: {}:DIR", kind, kind));
  const std::filesystem::path folder = expanded(rest);
  return kind == "folder" ? read_folder(folder, broken, parts) : reader->second(folder, parts);
}

}  // namespace medley::data
