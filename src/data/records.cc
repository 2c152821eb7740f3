#include "data/records.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "core/check.h"
#include "data/file.h"

namespace medley {
namespace {

/// Ends the use of a z_stream on every way out.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzip = 16 + MAX_WBITS;
    if (inflateInit2(&stream, kGzip) != Z_OK) fail_io("zlib cannot be started");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

std::vector<std::uint8_t> gunzip(std::vector<std::uint8_t>& packed, const std::string& name,
                                 std::size_t most) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  Inflater inflater;
  z_stream& stream = inflater.stream;
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> result;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    const std::size_t at = result.size();
    result.resize(at + kPiece);
    stream.next_out = result.data() + at;
    stream.avail_out = static_cast<uInt>(kPiece);
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) {
      fail_io(fmt::format("{} is truncated or not a gzip file, at byte {}", name, stream.total_in));
    }
    result.resize(at + kPiece - std::min<std::size_t>(stream.avail_out, kPiece));
    if (result.size() > most) fail_io(fmt::format("{} unpacks to more than {} bytes", name, most));
  }
  return result;
}

}  // namespace

std::vector<std::uint8_t> read_maybe_gzipped(const std::filesystem::path& path, std::size_t most) {
  std::vector<std::uint8_t> bytes = read_file(path, most);
  const bool gzipped = bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
  return gzipped ? gunzip(bytes, path.string(), most) : bytes;
}

std::vector<std::string> read_names(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
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

ImageData data_of(ImageSet train, ImageSet test, const std::filesystem::path& folder) {
  ImageData data{std::move(train), std::move(test), {}};
  if (data.train.count() == 0 || data.test.count() == 0) {
    fail_io(fmt::format("{} needs training and test images, got {} and {}", folder.string(),
                        data.train.count(), data.test.count()));
  }
  const BatchShape& a = data.train.shape;
  const BatchShape& b = data.test.shape;
  if (a.channels != b.channels || a.size() != b.size()) {
    fail_io(
        fmt::format("{}: training images are {}x{}x{} (channels, height, width), test images "
                    "{}x{}x{}",
                    folder.string(), a.channels, a.height, a.width, b.channels, b.height, b.width));
  }
  const std::set<std::int64_t> known(data.train.labels.begin(), data.train.labels.end());
  for (const std::int64_t label : data.test.labels) {
    if (known.contains(label)) continue;
    fail_io(fmt::format("{}: test images have class {}, which the training images do not have",
                        folder.string(), label));
  }
  data.classes = numbered_names(*known.rbegin() + 1);
  return data;
}

}  // namespace medley
