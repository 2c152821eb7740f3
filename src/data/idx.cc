#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/records.h"
#include "medley/data/dataset.h"
#include "medley/data/image.h"

namespace medley {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 31;

/// A file of unsigned bytes with its axes.
struct IdxFile {
  std::string name;
  std::vector<std::int64_t> axes;
  std::vector<std::uint8_t> bytes;  // header included
  std::size_t begin;                // of the values
};

std::filesystem::path existing(const std::filesystem::path& plain) {
  const std::filesystem::path packed = plain.string() + ".gz";
  return !std::filesystem::exists(plain) && std::filesystem::exists(packed) ? packed : plain;
}

/// Two zero bytes, the type (8: unsigned byte), the number of axes, each axis as 4 bytes, values.
IdxFile read_idx_file(const std::filesystem::path& plain, std::size_t axes) {
  const std::filesystem::path path = existing(plain);
  IdxFile file{path.string(), {}, read_maybe_gzipped(path, kMostBytes), 4 + 4 * axes};
  const std::vector<std::uint8_t>& bytes = file.bytes;
  if (bytes.size() < file.begin || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8 ||
      bytes[3] != axes) {
    fail_io(fmt::format("{} is not an IDX file of unsigned bytes with {} axes", file.name, axes));
  }
  std::uint64_t values = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    std::uint64_t length = 0;
    for (std::size_t k = 0; k < 4; ++k) length = length << 8 | bytes[4 + 4 * i + k];
    file.axes.push_back(static_cast<std::int64_t>(length));
    values = std::min<std::uint64_t>(values * length, kMostBytes + 1);
  }
  if (bytes.size() - file.begin != values) {
    fail_io(fmt::format("{} must hold {} values after byte {}, but has {}", file.name, values,
                        file.begin, bytes.size() - file.begin));
  }
  return file;
}

ImageSet read_set(const std::filesystem::path& folder, const std::string& stem) {
  const IdxFile images = read_idx_file(folder / (stem + "-images-idx3-ubyte"), 3);
  const IdxFile labels = read_idx_file(folder / (stem + "-labels-idx1-ubyte"), 1);
  if (images.axes[0] != labels.axes[0]) {
    fail_io(fmt::format("{} has {} images, {} has {} labels", images.name, images.axes[0],
                        labels.name, labels.axes[0]));
  }
  if (std::max(images.axes[1], images.axes[2]) > kMaxImageSide) {
    fail_io(fmt::format("{} has images of {}x{} pixels, at most {} on a side are read", images.name,
                        images.axes[1], images.axes[2], kMaxImageSide));
  }
  ImageSet set;
  set.shape = {images.axes[0], 1, static_cast<std::int32_t>(images.axes[1]),
               static_cast<std::int32_t>(images.axes[2])};
  set.pixels.assign(images.bytes.begin() + static_cast<std::ptrdiff_t>(images.begin),
                    images.bytes.end());
  set.labels.assign(labels.bytes.begin() + static_cast<std::ptrdiff_t>(labels.begin),
                    labels.bytes.end());
  return set;
}

}  // namespace

ImageData read_idx(const std::filesystem::path& folder) {
  ImageSet train = read_set(folder, "train");  // before the test set: errors come in this order
  return data_of(std::move(train), read_set(folder, "t10k"), folder);
}

}  // namespace medley
