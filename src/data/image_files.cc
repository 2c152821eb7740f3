#include "medley/data/image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/parallel.h"
#include "core/portable_math.h"
#include "data/codec.h"
#include "data/content_hash.h"
#include "data/input_file.h"
#include "medley/error.h"
#include "medley/random.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;

/// The deepest folder that holds both.
fs::path common_folder(const fs::path& a, const fs::path& b) {
  const auto [end, ignored] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  fs::path common;
  for (auto part = a.begin(); part != end; ++part) common /= *part;
  return common;
}

/// Bytes of a file that tell it apart from others of its length; all of a small one.
std::vector<std::uint8_t> sample_of(const fs::path& path) {
  constexpr std::size_t kPiece = 4096;
  InputFile file(path);
  if (file.size() <= 3 * kPiece) return file.read_up_to(3 * kPiece);
  std::vector<std::uint8_t> sample(3 * kPiece);
  const std::array<std::uint64_t, 3> places = {0, (file.size() - kPiece) / 2, file.size() - kPiece};
  for (std::size_t i = 0; i < places.size(); ++i) {
    file.seek(places[i]);
    file.read(std::span(sample).subspan(i * kPiece, kPiece));
  }
  return sample;
}

/// A line per sampled file; "missing" where it cannot be read and such are skipped.
std::string samples_of(const std::vector<fs::path>& paths, ImageFiles::Broken broken) {
  constexpr std::int64_t kMostSamples = 1024;
  const std::int64_t count = std::min(std::ssize(paths), kMostSamples);
  std::vector<std::string> hashes(static_cast<std::size_t>(count));
  parallel_for(count, 0, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i * std::ssize(paths) / count);
    try {
      hashes[static_cast<std::size_t>(i)] = content_hash(sample_of(paths[at])) + '\n';
    } catch (const IoError& problem) {
      if (broken == ImageFiles::Broken::refuse) {
        throw IoError(fmt::format("{}; --skip-broken leaves such images out", problem.what()));
      }
      hashes[static_cast<std::size_t>(i)] = "missing\n";
    }
  });
  return std::accumulate(hashes.begin(), hashes.end(), std::string());
}

std::string fingerprint_of(const std::vector<fs::path>& paths, ImageFiles::Broken broken) {
  std::vector<std::uint8_t> listing;
  fs::path folder = paths.empty() ? fs::path() : paths.front().parent_path();
  for (const fs::path& path : paths) folder = common_folder(folder, path);
  for (const fs::path& path : paths) {
    std::error_code problem;
    const std::uintmax_t bytes = fs::file_size(path, problem);
    if (problem && broken == ImageFiles::Broken::refuse) {
      fail_io(fmt::format("cannot read {}: {}; --skip-broken leaves such images out", path.string(),
                          problem.message()));
    }
    const std::string line = fmt::format("{} {}\n", path.lexically_relative(folder).string(),
                                         problem ? "missing" : std::to_string(bytes));
    listing.insert(listing.end(), line.begin(), line.end());
  }
  const std::string samples = samples_of(paths, broken);
  listing.insert(listing.end(), samples.begin(), samples.end());
  return content_hash(listing);
}

}  // namespace

struct ImageFiles::Impl {
  std::vector<fs::path> paths;
  Broken broken;
  std::string fingerprint;
  std::mutex mutex;
  std::set<std::int64_t> known_broken;
  std::set<std::int64_t> known_damaged;
  std::vector<std::string> notes;

  /// Keeps the sentence if the file is new to the set.
  void keep(std::set<std::int64_t>& known, std::int64_t index, std::string note) {
    const std::scoped_lock lock(mutex);
    if (known.insert(index).second) notes.push_back(std::move(note));
  }
};

ImageFiles::ImageFiles(std::vector<fs::path> paths, Broken broken)
    : impl_(std::make_unique<Impl>()) {
  impl_->fingerprint = fingerprint_of(paths, broken);
  impl_->paths = std::move(paths);
  impl_->broken = broken;
}

ImageFiles::~ImageFiles() = default;

std::int64_t ImageFiles::count() const noexcept { return std::ssize(impl_->paths); }

ImageFiles::Broken ImageFiles::broken() const noexcept { return impl_->broken; }

const fs::path& ImageFiles::path(std::int64_t index) const {
  return impl_->paths[static_cast<std::size_t>(index)];
}

bool ImageFiles::read(std::int64_t index, const BoxChoice& choose, ImageSize size,
                      std::span<std::uint8_t> rgb, bool exif) const {
  const auto note = [&](const std::string& text) {
    impl_->keep(impl_->known_damaged, index, text);
  };
  try {
    decode_part(read_image_file(path(index)), path(index).string(), choose, size, rgb,
                {.exif = exif, .note = note});
    return true;
  } catch (const IoError& problem) {
    if (impl_->broken == Broken::refuse) {
      throw IoError(fmt::format("{}; --skip-broken leaves such images out", problem.what()));
    }
    impl_->keep(impl_->known_broken, index, fmt::format("left out: {}", problem.what()));
    return false;
  }
}

std::vector<std::string> ImageFiles::new_notes() const {
  const std::scoped_lock lock(impl_->mutex);
  return std::exchange(impl_->notes, {});
}

std::int64_t ImageFiles::broken_count() const {
  const std::scoped_lock lock(impl_->mutex);
  return std::ssize(impl_->known_broken);
}

const std::string& ImageFiles::fingerprint() const noexcept { return impl_->fingerprint; }

PixelBox RandomCrop::box(ImageSize whole, std::uint64_t seed, std::uint64_t epoch,
                         std::int64_t picture) const {
  RandomStream random(seed, epoch, static_cast<std::uint64_t>(picture), Purpose::crop);
  const auto pixels = static_cast<double>(whole.pixels());
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    const double area = pixels * (least_area + (most_area - least_area) * random.uniform());
    const double log_ratio = (2 * random.uniform() - 1) * log_positive(aspect);
    const double flat = exp_nonpositive(-std::abs(log_ratio));
    const double ratio = log_ratio < 0 ? flat : 1 / flat;
    const auto width = static_cast<std::int64_t>(std::lround(std::sqrt(area * ratio)));
    const auto height = static_cast<std::int64_t>(std::lround(std::sqrt(area / ratio)));
    if (width < 1 || height < 1 || width > whole.width || height > whole.height) continue;
    const auto top = random.below(static_cast<std::uint32_t>(whole.height - height + 1));
    const auto left = random.below(static_cast<std::uint32_t>(whole.width - width + 1));
    return {static_cast<std::int32_t>(top), static_cast<std::int32_t>(left),
            static_cast<std::int32_t>(height), static_cast<std::int32_t>(width)};
  }
  // A very long image: as much of its middle as the ratio allows.
  const auto most = [&](std::int32_t side, std::int32_t other) {
    const auto length = static_cast<std::int32_t>(std::lround(other * aspect));
    return std::clamp(length, 1, side);
  };
  const std::int32_t height = most(whole.height, whole.width);
  const std::int32_t width = most(whole.width, whole.height);
  return {(whole.height - height) / 2, (whole.width - width) / 2, height, width};
}

PixelBox central_box(ImageSize whole, std::int32_t size, std::int32_t shorter) {
  const std::int32_t short_side = std::min(whole.height, whole.width);
  const auto side = std::clamp(
      static_cast<std::int32_t>(std::lround(static_cast<double>(short_side) * size / shorter)), 1,
      short_side);
  return {(whole.height - side) / 2, (whole.width - side) / 2, side, side};
}

}  // namespace medley::data
