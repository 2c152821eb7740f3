#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/check.h"
#include "core/json.h"
#include "data/content_hash.h"
#include "data/file.h"
#include "data/input_file.h"
#include "medley/error.h"
#include "train/folder.h"
#include "train/json_fields.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr std::string_view kMagic = "MEDLEYCK";
constexpr std::string_view kSchema = "medley.checkpoint/1";
constexpr std::size_t kStart = 16;  // magic and length of the header
constexpr std::size_t kEnd = 8;     // hash of the file
constexpr std::size_t kKept = 2;
constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSuffix = ".medley";

void put_u64(std::uint64_t value, std::uint8_t* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// The number in the name of a file, if that is a checkpoint's.
std::optional<std::int64_t> number_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.size() < kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) ||
      !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const char* const begin = name.data() + kPrefix.size();
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto [rest, problem] = std::from_chars(begin, end, number);
  if (problem != std::errc() || rest != end || begin == end || number < 0) return std::nullopt;
  return number;
}

std::uint64_t get_u64(const std::uint8_t* from) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | from[i];
  return value;
}

bool is_start(std::span<const std::uint8_t> start) {
  return start.size() >= kStart && std::memcmp(start.data(), kMagic.data(), kMagic.size()) == 0;
}

/// The length of the header of a file that begins like this and, without its hash, ends at `end`;
/// none if it cannot be.
std::optional<std::size_t> header_length(std::span<const std::uint8_t> start, std::uint64_t end) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;
  const std::uint64_t length = get_u64(start.data() + kMagic.size());
  if (length > std::min(end - kStart, kMostBytes)) return std::nullopt;
  return static_cast<std::size_t>(length);
}

/// Sees name, hash, place behind the header and size of a section.
using SeeSection = std::function<void(std::string name, const std::string& hash, std::size_t at,
                                      std::size_t size)>;

/// The state in a header that is followed by `values` bytes, which the sections must fill.
std::string read_header(std::span<const std::uint8_t> bytes, std::uint64_t values,
                        std::string_view name, const SeeSection& see) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string of_header = fmt::format("the header of {}", name);
  const Input header = parse_json(text, of_header, JsonError::io);
  JsonFields fields(header, of_header);
  if (fields.text("schema") != kSchema) fields.wrong("schema", fmt::format("\"{}\"", kSchema));
  std::string state = fields.text("state");
  std::uint64_t at = 0;
  std::size_t number = 0;
  for (const Input& one : fields.list("sections")) {
    JsonFields s(one, of_header, fmt::format("sections[{}]", number++));
    const auto size = static_cast<std::uint64_t>(s.whole("size", 0));
    if (size > values - at) {
      s.wrong("size", fmt::format("at most the {} bytes that follow", values - at));
    }
    see(s.text("name"), s.text("xxh3"), at, size);
    at += size;
  }
  if (at != values) fail_io(fmt::format("{} has bytes that belong to no section", name));
  return state;
}

/// Why a file cannot be a whole checkpoint, by its beginning and its size. Throws IoError if it
/// cannot be read.
std::optional<std::string> flaw_of(data::InputFile& file) {
  const std::string& name = file.name();
  const std::vector<std::uint8_t> start = file.read_up_to(kStart);
  if (!is_start(start) || file.left() < kEnd) {
    return fmt::format("{} is not a Medley checkpoint", name);
  }
  const std::optional<std::size_t> length = header_length(start, file.size() - kEnd);
  if (!length) return fmt::format("{} is damaged or truncated: it has a broken header", name);
  const std::vector<std::uint8_t> header = file.read_up_to(*length);
  try {
    (void)read_header(header, file.left() - kEnd, name, [](auto&&...) {});
  } catch (const IoError& problem) {
    return fmt::format("{} is damaged or truncated: {}", name, problem.what());
  }
  return std::nullopt;
}

std::vector<std::uint8_t> read_whole(data::InputFile& file) {
  file.seek(0);
  return file.read_up_to(static_cast<std::size_t>(file.size()));
}

}  // namespace

bool Checkpoint::has(std::string_view name) const {
  return std::ranges::find(sections, name, &CheckpointSection::name) != sections.end();
}

const CheckpointSection& Checkpoint::section(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &CheckpointSection::name);
  if (found == sections.end()) fail_io(fmt::format("the checkpoint has no section \"{}\"", name));
  return *found;
}

std::vector<std::uint8_t> encode_checkpoint(const Checkpoint& checkpoint) {
  Json header = {{"schema", kSchema}, {"state", checkpoint.state}, {"sections", Json::array()}};
  std::size_t total = 0;
  for (const CheckpointSection& s : checkpoint.sections) {
    header["sections"].push_back(
        {{"name", s.name}, {"size", s.bytes.size()}, {"xxh3", data::content_hash(s.bytes)}});
    total += s.bytes.size();
  }
  const std::string text = header.dump();
  std::vector<std::uint8_t> file(kStart + text.size() + total + kEnd);
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  put_u64(text.size(), file.data() + kMagic.size());
  std::memcpy(file.data() + kStart, text.data(), text.size());
  std::uint8_t* at = file.data() + kStart + text.size();
  for (const CheckpointSection& s : checkpoint.sections) {
    at = std::copy(s.bytes.begin(), s.bytes.end(), at);
  }
  put_u64(XXH3_64bits(file.data(), file.size() - kEnd), at);
  return file;
}

Checkpoint decode_checkpoint(std::vector<std::uint8_t> bytes, std::string_view name) {
  if (!is_start(bytes) || bytes.size() < kStart + kEnd) {
    fail_io(fmt::format("{} is not a Medley checkpoint", name));
  }
  const std::size_t end = bytes.size() - kEnd;
  if (XXH3_64bits(bytes.data(), end) != get_u64(bytes.data() + end)) {
    fail_io(fmt::format("{} is damaged or truncated: its hash does not fit", name));
  }
  const std::size_t length = header_length(bytes, end).value_or(SIZE_MAX);
  if (length == SIZE_MAX) fail_io(fmt::format("{} has a broken header", name));
  Checkpoint checkpoint;
  const auto take = [&](std::string section, const std::string& hash, std::size_t at,
                        std::size_t size) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(kStart + length + at);
    checkpoint.sections.push_back(
        {std::move(section), {first, first + static_cast<std::ptrdiff_t>(size)}});
    if (data::content_hash(checkpoint.sections.back().bytes) != hash) {
      fail_io(fmt::format("{}: section \"{}\" is damaged", name, checkpoint.sections.back().name));
    }
  };
  checkpoint.state =
      read_header(std::span(bytes).subspan(kStart, length), end - kStart - length, name, take);
  return checkpoint;
}

void CheckpointFolder::save(std::int64_t step, const Checkpoint& checkpoint) const {
  data::write_file_durably(folder_ / fmt::format("{}{:010}{}", kPrefix, step, kSuffix),
                           encode_checkpoint(checkpoint));
  std::vector<fs::path> done;
  try {
    done = files();
  } catch (const IoError&) {
    return;  // it is saved, and those that are too old go with the next one
  }
  std::erase_if(done, [&](const fs::path& path) { return number_of(path) > step; });
  std::error_code ignored;
  for (std::size_t i = kKept; i < done.size(); ++i) fs::remove(done[i], ignored);
}

std::vector<fs::path> CheckpointFolder::files() const {
  std::vector<fs::path> found = list_folder(folder_);
  std::erase_if(found, [](const fs::path& path) { return !is_checkpoint(path); });
  std::ranges::sort(found, std::greater<>(), number_of);
  return found;
}

std::optional<CheckpointFolder::Found> CheckpointFolder::load_newest(
    std::vector<std::string>& problems) const {
  std::optional<std::string> unreadable;
  for (const fs::path& path : files()) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::status_known(status) && !fs::is_regular_file(status)) {  // a pipe would be waited for
      problems.push_back(fmt::format("{} is not a regular file", path.string()));
      continue;
    }
    std::vector<std::uint8_t> bytes;
    try {
      data::InputFile file(path);
      if (const std::optional<std::string> flaw = flaw_of(file)) {
        problems.push_back(*flaw);
        continue;
      }
      bytes = read_whole(file);
    } catch (const IoError& problem) {
      problems.emplace_back(problem.what());
      if (!unreadable) unreadable = problem.what();
      continue;
    }
    try {
      return Found{path, decode_checkpoint(std::move(bytes), path.string())};
    } catch (const IoError& problem) {
      problems.emplace_back(problem.what());
    }
  }
  if (unreadable) fail_io(*unreadable);
  return std::nullopt;
}

bool is_checkpoint(const fs::path& path) { return number_of(path).has_value(); }

Checkpoint read_checkpoint(const fs::path& path) {
  data::InputFile file(path);
  if (const std::optional<std::string> flaw = flaw_of(file)) fail_io(*flaw);
  return decode_checkpoint(read_whole(file), file.name());
}

}  // namespace medley::train
