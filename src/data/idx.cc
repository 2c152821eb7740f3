#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/records.h"
#include "data/unpacked_file.h"
#include "medley/data/dataset.h"
#include "medley/data/image.h"

namespace medley::data {
namespace {

constexpr std::uint64_t kMostValues = std::uint64_t{1} << 31;

/// A file of unsigned bytes of which the header was read, and nothing else.
struct IdxFile {
  UnpackedFile file;
  std::vector<std::int64_t> axes;
  std::size_t begin;     // of the values
  std::uint64_t values;  // that must follow

  [[nodiscard]] const std::string& name() const { return file.name(); }
};

std::filesystem::path existing(const std::filesystem::path& plain) {
  const std::filesystem::path packed = plain.string() + ".gz";
  return !std::filesystem::exists(plain) && std::filesystem::exists(packed) ? packed : plain;
}

[[noreturn]] void fail_size(const IdxFile& idx, const std::string& had) {
  fail_io(fmt::format("{} must hold {} values after byte {}, but has {}", idx.name(), idx.values,
                      idx.begin, had));
}

/// Two zero bytes, the type (8: unsigned byte), the number of axes, each axis as 4 bytes, values.
IdxFile open_idx(const std::filesystem::path& plain, std::size_t axes) {
  IdxFile idx{UnpackedFile(existing(plain)), {}, 4 + 4 * axes, 1};
  std::vector<std::uint8_t> header(idx.begin);
  if (idx.file.read(header) < header.size() || header[0] != 0 || header[1] != 0 || header[2] != 8 ||
      header[3] != axes) {
    fail_io(fmt::format("{} is not an IDX file of unsigned bytes with {} axes", idx.name(), axes));
  }
  for (std::size_t i = 0; i < axes; ++i) {
    std::uint64_t length = 0;
    for (std::size_t k = 0; k < 4; ++k) length = length << 8 | header[4 + 4 * i + k];
    idx.axes.push_back(static_cast<std::int64_t>(length));
    idx.values = std::min(idx.values * length, kMostValues + 1);
  }
  if (idx.values > kMostValues) {
    fail_io(fmt::format("{} is too large: at most {} values are read", idx.name(), kMostValues));
  }
  if (idx.values > idx.file.most_left()) {
    fail_size(idx, fmt::format("at most {}", idx.file.most_left()));
  }
  return idx;
}

std::vector<std::uint8_t> read_values(IdxFile& idx) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(idx.values));
  const std::size_t had = idx.file.read(values);
  if (had < values.size()) fail_size(idx, std::to_string(had));
  std::uint8_t more = 0;  // reading on also checks a gzip file's sum
  if (idx.file.read({&more, 1}) > 0) fail_size(idx, "more");
  return values;
}

std::filesystem::path labels_file(const std::filesystem::path& folder, const std::string& stem) {
  return folder / (stem + "-labels-idx1-ubyte");
}

std::vector<std::int64_t> read_labels(IdxFile& idx) {
  const std::vector<std::uint8_t> values = read_values(idx);
  return {values.begin(), values.end()};
}

ImageSet read_set(const std::filesystem::path& folder, const std::string& stem) {
  IdxFile images = open_idx(folder / (stem + "-images-idx3-ubyte"), 3);
  IdxFile labels = open_idx(labels_file(folder, stem), 1);
  if (images.axes[0] != labels.axes[0]) {
    fail_io(fmt::format("{} has {} images, {} has {} labels", images.name(), images.axes[0],
                        labels.name(), labels.axes[0]));
  }
  if (std::max(images.axes[1], images.axes[2]) > kMaxImageSide) {
    fail_io(fmt::format("{} has images of {}x{} pixels, at most {} on a side are read",
                        images.name(), images.axes[1], images.axes[2], kMaxImageSide));
  }
  ImageSet set;
  set.shape = {images.axes[0], 1, static_cast<std::int32_t>(images.axes[1]),
               static_cast<std::int32_t>(images.axes[2])};
  set.labels = read_labels(labels);
  set.pixels = read_values(images);
  return set;
}

/// The classes of the training images, or none if they are not there.
std::vector<std::int64_t> train_labels(const std::filesystem::path& folder) {
  const std::filesystem::path plain = labels_file(folder, "train");
  if (!std::filesystem::exists(existing(plain))) return {};
  IdxFile labels = open_idx(plain, 1);
  return read_labels(labels);
}

}  // namespace

ImageData read_idx(const std::filesystem::path& folder, Parts parts) {
  if (parts == Parts::test) {
    return test_data_of(read_set(folder, "t10k"), train_labels(folder), folder);
  }
  ImageSet train = read_set(folder, "train");  // before the test set: errors come in this order
  return data_of(std::move(train), read_set(folder, "t10k"), folder);
}

}  // namespace medley::data
