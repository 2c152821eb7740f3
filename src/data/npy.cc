#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/input_file.h"
#include "data/records.h"
#include "medley/data/dataset.h"
#include "medley/data/image.h"

namespace medley::data {
namespace {

/// An array of a .npy file, in C order, of which the header was read, and nothing else.
struct NpyFile {
  InputFile file;
  std::string name;
  std::string type;  // such as "|u1", "<i8"
  std::vector<std::int64_t> shape;

  [[nodiscard]] std::size_t value_size() const { return static_cast<std::size_t>(type[2] - '0'); }
  [[nodiscard]] std::vector<std::uint8_t> values() {
    return file.read_up_to(static_cast<std::size_t>(file.left()));
  }
};

/// What stands behind 'key': in the header, which is a Python dictionary.
std::string_view field(const NpyFile& file, std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos)
    fail_io(fmt::format("{} has no '{}' in its header", file.name, key));
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

std::vector<std::int64_t> parse_shape(const NpyFile& file, std::string_view text) {
  std::vector<std::int64_t> shape;
  const std::size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) {
    fail_io(fmt::format("{} has a broken shape in its header", file.name));
  }
  std::int64_t number = -1;
  for (const char c : text.substr(1, end - 1)) {
    if (c >= '0' && c <= '9') {
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
      if (number > (std::int64_t{1} << 40)) fail_io(fmt::format("{} is too large", file.name));
    } else if (c == ',') {
      if (number >= 0) shape.push_back(number);
      number = -1;
    } else if (c != ' ') {
      fail_io(fmt::format("{} has a broken shape in its header", file.name));
    }
  }
  if (number >= 0) shape.push_back(number);
  return shape;
}

/// The header, a Python dictionary, without what is around it.
std::string read_header(InputFile& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const std::vector<std::uint8_t> start = file.read_up_to(12);
  if (start.size() < 12 || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    fail_io(fmt::format("{} is not a .npy file", file.name()));
  }
  const bool old = start[6] == 1;
  std::size_t length = start[8] | std::size_t{start[9]} << 8;
  if (!old) length |= std::size_t{start[10]} << 16 | std::size_t{start[11]} << 24;
  file.seek(old ? 10 : 12);
  if (length > kMostBytes) {
    fail_io(fmt::format("{} has a header of {} bytes, at most {} are read", file.name(), length,
                        kMostBytes));
  }
  if (length > file.left()) fail_io(fmt::format("{} is truncated in its header", file.name()));
  const std::vector<std::uint8_t> header = file.read_up_to(length);
  return {header.begin(), header.end()};
}

/// Reads the header and refuses what cannot follow it.
NpyFile open_npy(const std::filesystem::path& path) {
  NpyFile npy{InputFile(path), path.string(), {}, {}};
  const std::string header = read_header(npy.file);
  if (field(npy, header, "fortran_order").starts_with("True")) {
    fail_io(fmt::format("{} is in Fortran order; C order is read", npy.name));
  }
  const std::string_view descr = field(npy, header, "descr");
  if (descr.size() < 4) fail_io(fmt::format("{} has a broken 'descr' in its header", npy.name));
  npy.type = descr.substr(1, 3);
  constexpr std::string_view kTypes[] = {"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8"};
  if (std::ranges::find(kTypes, npy.type) == std::end(kTypes)) {
    fail_io(fmt::format("{} must hold whole numbers of this machine's byte order, got type '{}'",
                        npy.name, npy.type));
  }
  npy.shape = parse_shape(npy, field(npy, header, "shape"));
  std::optional<std::int64_t> expected = static_cast<std::int64_t>(npy.value_size());
  for (const std::int64_t axis : npy.shape) {
    if (expected) expected = product({*expected, axis});
  }
  if (!expected) fail_io(fmt::format("{} is too large", npy.name));
  if (npy.file.left() != static_cast<std::uint64_t>(*expected)) {
    fail_io(fmt::format("{} must hold {} bytes after byte {}, but has {}", npy.name, *expected,
                        npy.file.size() - npy.file.left(), npy.file.left()));
  }
  return npy;
}

std::int64_t number_at(const NpyFile& file, const std::uint8_t* bytes) {
  const std::size_t size = file.value_size();
  std::uint64_t value = 0;
  for (std::size_t k = size; k-- > 0;) value = value << 8 | bytes[k];
  const std::size_t unused = 64 - 8 * size;
  return file.type[1] == 'i' ? static_cast<std::int64_t>(value << unused) >> unused
                             : static_cast<std::int64_t>(value);
}

std::vector<std::int64_t> read_labels(NpyFile& file) {
  const std::vector<std::uint8_t> bytes = file.values();
  std::vector<std::int64_t> labels;
  for (std::size_t at = 0; at < bytes.size(); at += file.value_size()) {
    const std::int64_t label = number_at(file, bytes.data() + at);
    if (label < 0 || label > 1'000'000) {
      fail_io(fmt::format("{} has label {} at position {}, expected 0 to 1000000", file.name, label,
                          labels.size()));
    }
    labels.push_back(label);
  }
  return labels;
}

bool is_channels(std::int64_t n) { return n == 1 || n == 3; }

/// Axes 1… of an image array as channels, height, width.
void set_shape(const NpyFile& file, ImageSet& set) {
  const std::vector<std::int64_t>& s = file.shape;
  const bool sides_fit =
      std::ranges::all_of(s, [](std::int64_t n) { return n >= 1; }) &&
      std::all_of(s.begin() + 1, s.end(), [](std::int64_t n) { return n <= kMaxImageSide; });
  const auto side = [&](std::size_t i) { return static_cast<std::int32_t>(s[i]); };
  if (sides_fit && s.size() == 3) {
    set.shape = {s[0], 1, side(1), side(2)};
  } else if (sides_fit && s.size() == 4 && is_channels(s[3])) {
    set.shape = {s[0], side(3), side(1), side(2)};
    set.layout = Layout::nhwc;
  } else if (sides_fit && s.size() == 4 && is_channels(s[1])) {
    set.shape = {s[0], side(1), side(2), side(3)};
  } else {
    fail_io(
        fmt::format("{} must have axes NxHxW, NxHxWxC or NxCxHxW with 1 or 3 channels", file.name));
  }
}

std::filesystem::path labels_file(const std::filesystem::path& folder, const std::string& stem) {
  return folder / (stem + "_labels.npy");
}

ImageSet read_set(const std::filesystem::path& folder, const std::string& stem) {
  NpyFile images = open_npy(folder / (stem + "_images.npy"));
  NpyFile labels = open_npy(labels_file(folder, stem));
  if (images.type != "|u1" || images.shape.empty()) {
    fail_io(fmt::format("{} must hold images of type '|u1', got '{}'", images.name, images.type));
  }
  if (labels.shape.size() != 1 || labels.shape[0] != images.shape[0]) {
    fail_io(fmt::format("{} must hold one label for each of the {} images of {}", labels.name,
                        images.shape[0], images.name));
  }
  ImageSet set;
  set_shape(images, set);
  set.labels = read_labels(labels);
  set.pixels = images.values();
  return set;
}

/// The classes of the training images, or none if they are not there.
std::vector<std::int64_t> train_labels(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(labels_file(folder, "train"))) return {};
  NpyFile labels = open_npy(labels_file(folder, "train"));
  return read_labels(labels);
}

}  // namespace

ImageData read_npy(const std::filesystem::path& folder, Parts parts) {
  if (parts == Parts::test) {
    return test_data_of(read_set(folder, "test"), train_labels(folder), folder);
  }
  ImageSet train = read_set(folder, "train");  // before the test set: errors come in this order
  return data_of(std::move(train), read_set(folder, "test"), folder);
}

}  // namespace medley::data
