#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "data/input_file.h"
#include "data/records.h"
#include "medley/data/dataset.h"

namespace medley::data {
namespace {

constexpr std::int32_t kSide = 32;
constexpr std::int64_t kPixels = std::int64_t{3} * kSide * kSide;

/// A record is some label bytes, of which the last counts, and a planar image.
struct Format {
  std::int64_t label_bytes;
  std::int64_t classes;
};

void append_records(const std::filesystem::path& path, Format format, ImageSet& set) {
  InputFile file(path);
  const std::int64_t record = format.label_bytes + kPixels;
  const auto size = static_cast<std::int64_t>(file.size());
  if (size == 0 || size % record != 0) {
    fail_io(fmt::format("{} must hold records of {} bytes, but has {} bytes", path.string(), record,
                        size));
  }
  check_file_size(file, kPlainSize);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(record));
  for (std::int64_t at = 0; at < size; at += record) {
    file.read(bytes);
    const auto image = bytes.begin() + format.label_bytes;
    const std::int64_t label = image[-1];
    if (label >= format.classes) {
      fail_io(fmt::format("{} has label {} at byte {}, expected less than {}", path.string(), label,
                          at + format.label_bytes - 1, format.classes));
    }
    set.labels.push_back(label);
    set.pixels.insert(set.pixels.end(), image, bytes.end());
  }
  set.shape = {std::ssize(set.labels), 3, kSide, kSide};
}

std::vector<std::string> names_or_numbers(const std::filesystem::path& path, std::int64_t count) {
  std::vector<std::string> names = read_names(path);
  return std::ssize(names) == count ? names : numbered_names(count);
}

}  // namespace

ImageData read_cifar10(const std::filesystem::path& folder, Parts parts) {
  constexpr Format kFormat{1, 10};
  ImageData data;
  for (int i = 1; i <= 5 && parts == Parts::all; ++i) {
    append_records(folder / fmt::format("data_batch_{}.bin", i), kFormat, data.train);
  }
  append_records(folder / "test_batch.bin", kFormat, data.test);
  data.classes = names_or_numbers(folder / "batches.meta.txt", kFormat.classes);
  return data;
}

ImageData read_cifar100(const std::filesystem::path& folder, Parts parts) {
  constexpr Format kFormat{2, 100};
  ImageData data;
  if (parts == Parts::all) append_records(folder / "train.bin", kFormat, data.train);
  append_records(folder / "test.bin", kFormat, data.test);
  data.classes = names_or_numbers(folder / "fine_label_names.txt", kFormat.classes);
  return data;
}

}  // namespace medley::data
