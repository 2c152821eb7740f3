#include "train/safetensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "data/input_file.h"

namespace medley::train {
namespace {

using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr std::size_t kPrefix = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kMaxTensors = 1 << 16;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;

struct TypeSize {
  std::string_view name;
  std::int64_t size;
};
constexpr TypeSize kTypes[] = {{"BOOL", 1}, {"U8", 1},   {"I8", 1},  {"I16", 2}, {"U16", 2},
                               {"F16", 2},  {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},
                               {"F64", 8},  {"I64", 8},  {"U64", 8}};

/// The names of a file, in its header.
Input parse_header(std::string_view text, std::string_view name) {
  const JsonLimits limits{.depth = 4, .keys = kMaxTensors + 1};
  Input header = parse_json(text, fmt::format("the header of {}", name), JsonError::io, limits);
  if (!header.is_object()) fail_io(fmt::format("{} has a header that is not a JSON object", name));
  return header;
}

/// A whole number in [0, kMaxBytes], or -1.
std::int64_t whole(const Input& value) {
  if (!value.is_number_unsigned()) return -1;
  const auto number = value.get<std::uint64_t>();
  return number <= static_cast<std::uint64_t>(kMaxBytes) ? static_cast<std::int64_t>(number) : -1;
}

struct Entry {
  TensorView tensor;
  std::int64_t begin;
  std::int64_t end;
};

Entry parse_entry(const std::string& key, const Input& value, std::string_view name) {
  const auto broken = [&](std::string_view what) {
    fail_io(fmt::format("{}: tensor \"{}\" {}", name, key, what));
  };
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    broken("must have dtype, shape and data_offsets and nothing else");
  }
  Entry entry{{key, {}, {}, {}}, 0, 0};
  if (!value["dtype"].is_string()) broken("has a dtype that is not a word");
  entry.tensor.dtype = value["dtype"].get<std::string>();
  std::int64_t bytes = safetensors_size_of(entry.tensor.dtype);
  if (bytes == 0) broken(fmt::format("has unknown dtype \"{}\"", entry.tensor.dtype));
  if (!value["shape"].is_array()) broken("has a shape that is not a list");
  for (const Input& axis : value["shape"]) {
    const std::int64_t length = whole(axis);
    if (length < 0) broken("has a shape that is not a list of whole numbers");
    entry.tensor.shape.push_back(length);
    if (length != 0 && bytes > kMaxBytes / length) broken("is too large");
    bytes *= length;
  }
  const Input& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) broken("needs two data_offsets");
  entry.begin = whole(offsets[0]);
  entry.end = whole(offsets[1]);
  if (entry.begin < 0 || entry.end < entry.begin) broken("has broken data_offsets");
  if (entry.end - entry.begin != bytes) {
    broken(fmt::format("needs {} bytes for its shape, but data_offsets span {}", bytes,
                       entry.end - entry.begin));
  }
  return entry;
}

std::map<std::string, std::string> parse_metadata(const Input& value, std::string_view name) {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) fail_io(fmt::format("{} has __metadata__ that is not an object", name));
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) fail_io(fmt::format("{} has __metadata__ that is not text", name));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

/// The length of the header of a file that begins like this.
std::size_t header_length(std::span<const std::uint8_t> start, std::uint64_t file_bytes,
                          std::string_view name) {
  if (start.size() < kPrefix) fail_io(fmt::format("{} is too short for safetensors", name));
  std::uint64_t length = 0;
  for (std::size_t i = kPrefix; i-- > 0;) length = length << 8 | start[i];
  if (length > kMaxHeader || length > file_bytes - kPrefix) {
    fail_io(fmt::format("{} says its header has {} bytes, but the file has {}", name, length,
                        file_bytes));
  }
  return static_cast<std::size_t>(length);
}

/// The tensors that a header names, in the order of their values, which must be `values` bytes.
/// Puts the metadata into `file`.
std::vector<Entry> parse_layout(std::span<const std::uint8_t> header_bytes, std::uint64_t values,
                                std::string_view name, SafetensorsFile& file) {
  const std::string_view text(reinterpret_cast<const char*>(header_bytes.data()),
                              header_bytes.size());
  const Input header = parse_header(text, name);
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      file.metadata = parse_metadata(value, name);
    } else {
      entries.push_back(parse_entry(key, value, name));
    }
  }
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::int64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) {
      fail_io(fmt::format("{}: tensor \"{}\" starts at byte {}, expected {}", name,
                          entry.tensor.name, entry.begin, at));
    }
    at = entry.end;
    if (std::cmp_greater(at, values)) {
      fail_io(fmt::format("{}: tensor \"{}\" ends at byte {}, but there are {}", name,
                          entry.tensor.name, at, values));
    }
  }
  if (std::cmp_less(at, values)) {
    fail_io(fmt::format("{} has {} bytes that belong to no tensor", name,
                        values - static_cast<std::uint64_t>(at)));
  }
  return entries;
}

}  // namespace

const TensorView* SafetensorsFile::find(std::string_view name) const noexcept {
  for (const TensorView& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

std::int64_t safetensors_size_of(std::string_view dtype) noexcept {
  for (const TypeSize& type : kTypes) {
    if (type.name == dtype) return type.size;
  }
  return 0;
}

std::vector<std::uint8_t> write_safetensors(std::span<const TensorView> tensors,
                                            const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t end = 0;
  for (const TensorView& tensor : tensors) {
    const std::size_t begin = end;
    end += tensor.bytes.size();
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::vector<std::uint8_t> file(kPrefix + text.size());
  file.reserve(file.size() + end);
  for (std::size_t i = 0; i < kPrefix; ++i) {
    file[i] = static_cast<std::uint8_t>(text.size() >> (8 * i));
  }
  std::memcpy(file.data() + kPrefix, text.data(), text.size());
  for (const TensorView& tensor : tensors) {
    file.insert(file.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  return file;
}

SafetensorsFile read_safetensors(std::span<const std::uint8_t> bytes, std::string_view name) {
  const std::size_t length = header_length(bytes, bytes.size(), name);
  const auto values = bytes.subspan(kPrefix + length);
  SafetensorsFile file;
  std::size_t at = 0;
  for (Entry& entry : parse_layout(bytes.subspan(kPrefix, length), values.size(), name, file)) {
    const auto size = static_cast<std::size_t>(entry.end - entry.begin);
    entry.tensor.bytes = values.subspan(at, size);
    at += size;
    file.tensors.push_back(std::move(entry.tensor));
  }
  return file;
}

std::vector<std::uint8_t> read_safetensors_file(
    const std::filesystem::path& path, const std::function<void(const SafetensorsFile&)>& judge) {
  data::InputFile input(path);
  const std::string& name = input.name();
  const std::size_t length = header_length(input.read_up_to(kPrefix), input.size(), name);
  input.seek(kPrefix);
  SafetensorsFile file;
  for (Entry& entry :
       parse_layout(input.read_up_to(length), input.size() - kPrefix - length, name, file)) {
    file.tensors.push_back(std::move(entry.tensor));
  }
  judge(file);
  input.seek(0);
  return input.read_up_to(static_cast<std::size_t>(input.size()));
}

}  // namespace medley::train
