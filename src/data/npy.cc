#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "data/records.h"
#include "medley/data/dataset.h"
#include "medley/data/image.h"

namespace medley {
namespace {

/// An array of a .npy file, in C order.
struct NpyFile {
  std::string name;
  std::string type;  // such as "|u1", "<i8"
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;  // header included
  std::size_t begin;                // of the values

  [[nodiscard]] std::size_t value_size() const { return static_cast<std::size_t>(type[2] - '0'); }
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

NpyFile read_npy_file(const std::filesystem::path& path) {
  NpyFile file{path.string(), {}, {}, read_file(path, kAnySize), 0};
  const std::vector<std::uint8_t>& bytes = file.bytes;
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    fail_io(fmt::format("{} is not a .npy file", file.name));
  }
  const std::size_t start = bytes[6] == 1 ? 10 : 12;
  std::size_t length = bytes[8] | std::size_t{bytes[9]} << 8;
  if (start == 12) length |= std::size_t{bytes[10]} << 16 | std::size_t{bytes[11]} << 24;
  if (length > bytes.size() - start)
    fail_io(fmt::format("{} is truncated in its header", file.name));
  file.begin = start + length;
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + start, length);
  if (field(file, header, "fortran_order").starts_with("True")) {
    fail_io(fmt::format("{} is in Fortran order; C order is read", file.name));
  }
  const std::string_view descr = field(file, header, "descr");
  if (descr.size() < 4) fail_io(fmt::format("{} has a broken 'descr' in its header", file.name));
  file.type = descr.substr(1, 3);
  constexpr std::string_view kTypes[] = {"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8"};
  if (std::ranges::find(kTypes, file.type) == std::end(kTypes)) {
    fail_io(fmt::format("{} must hold whole numbers of this machine's byte order, got type '{}'",
                        file.name, file.type));
  }
  file.shape = parse_shape(file, field(file, header, "shape"));
  std::uint64_t expected = file.value_size();
  for (const std::int64_t axis : file.shape) {
    expected = std::min<std::uint64_t>(expected * static_cast<std::uint64_t>(axis),
                                       std::uint64_t{1} << 40);
  }
  if (bytes.size() - file.begin != expected) {
    fail_io(fmt::format("{} must hold {} bytes after byte {}, but has {}", file.name, expected,
                        file.begin, bytes.size() - file.begin));
  }
  return file;
}

std::int64_t label_at(const NpyFile& file, std::size_t i) {
  const std::size_t size = file.value_size();
  std::uint64_t value = 0;
  for (std::size_t k = size; k-- > 0;) value = value << 8 | file.bytes[file.begin + i * size + k];
  const std::size_t unused = 64 - 8 * size;
  return file.type[1] == 'i' ? static_cast<std::int64_t>(value << unused) >> unused
                             : static_cast<std::int64_t>(value);
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

ImageSet read_set(const std::filesystem::path& folder, const std::string& stem) {
  const NpyFile images = read_npy_file(folder / (stem + "_images.npy"));
  const NpyFile labels = read_npy_file(folder / (stem + "_labels.npy"));
  if (images.type != "|u1" || images.shape.empty()) {
    fail_io(fmt::format("{} must hold images of type '|u1', got '{}'", images.name, images.type));
  }
  if (labels.shape.size() != 1 || labels.shape[0] != images.shape[0]) {
    fail_io(fmt::format("{} must hold one label for each of the {} images of {}", labels.name,
                        images.shape[0], images.name));
  }
  ImageSet set;
  set_shape(images, set);
  set.pixels.assign(images.bytes.begin() + static_cast<std::ptrdiff_t>(images.begin),
                    images.bytes.end());
  for (std::size_t i = 0; i < static_cast<std::size_t>(labels.shape[0]); ++i) {
    const std::int64_t label = label_at(labels, i);
    if (label < 0 || label > 1'000'000) {
      fail_io(fmt::format("{} has label {} at position {}, expected 0 to 1000000", labels.name,
                          label, i));
    }
    set.labels.push_back(label);
  }
  return set;
}

}  // namespace

ImageData read_npy(const std::filesystem::path& folder) {
  ImageSet train = read_set(folder, "train");  // before the test set: errors come in this order
  return data_of(std::move(train), read_set(folder, "test"), folder);
}

}  // namespace medley
