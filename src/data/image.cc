#include "medley/data/image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "data/codec.h"
#include "data/exif.h"
#include "data/file.h"
#include "data/input_file.h"
#include "data/resample.h"
#include "medley/error.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::uint8_t, 4> kPngStart = {0x89, 'P', 'N', 'G'};
constexpr std::array<std::uint8_t, 3> kJpegStart = {0xFF, 0xD8, 0xFF};

/// A thread keeps a buffer of decoded pixels up to this size for its next image.
constexpr std::size_t kKeptBytes = std::size_t{1} << 24;

bool starts_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> start) {
  return bytes.size() >= start.size() && std::equal(start.begin(), start.end(), bytes.begin());
}

/// Longer beginnings say no more.
constexpr std::size_t kStartBytes = 64;

[[noreturn]] void refuse_format(std::span<const std::uint8_t> bytes, std::string_view name) {
  if (bytes.empty()) throw IoError(fmt::format("{} is empty, expected a PNG or JPEG file", name));
  throw IoError(fmt::format("{} is neither PNG nor JPEG", name));
}

void check_box(const PixelBox& box, ImageSize whole) {
  if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 ||
      box.height > whole.height - box.top || box.width > whole.width - box.left) {
    throw InvalidArgument(
        fmt::format("a part of {} x {} pixels at row {}, column {} is not within "
                    "an image of {} x {}",
                    box.width, box.height, box.top, box.left, whole.width, whole.height));
  }
}

/// Resizes a window as if it had been cut out first: pixels outside it have no say.
void resample_inside(const Image& image, const Window& window, ImageSize size, std::uint8_t* rgb) {
  const auto end = [](double at, std::int32_t last) {
    return std::min(static_cast<std::int32_t>(std::ceil(at)), last);
  };
  const auto top = static_cast<std::int32_t>(window.top);
  const auto left = static_cast<std::int32_t>(window.left);
  const ImageSize inside = {end(window.top + window.height, image.size.height) - top,
                            end(window.left + window.width, image.size.width) - left};
  const std::size_t stride = static_cast<std::size_t>(image.size.width) * 3;
  const std::uint8_t* corner = image.rgb.data() + static_cast<std::size_t>(top) * stride +
                               static_cast<std::size_t>(left) * 3;
  resample({corner, stride, inside},
           {window.top - top, window.left - left, window.height, window.width}, size, rgb);
}

bool has_image_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

}  // namespace

void check_decoded_size(std::int64_t height, std::int64_t width, std::string_view name) {
  if (height < 1 || width < 1) {
    throw IoError(fmt::format("{} has no pixels: its size is {} x {}", name, width, height));
  }
  if (height > kMaxImageSide || width > kMaxImageSide || height * width > kMaxImagePixels) {
    throw IoError(
        fmt::format("{} is too large: expected at most {} pixels and {} on a side, got {} x {}",
                    name, kMaxImagePixels, kMaxImageSide, width, height));
  }
}

void check_pixels(ImageSize size, std::size_t values, std::int32_t channels) {
  if (size.height < 1 || size.width < 1 || size.height > kMaxImageSide ||
      size.width > kMaxImageSide || size.pixels() > kMaxImagePixels) {
    throw InvalidArgument(
        fmt::format("an image must have 1 to {} pixels and at most {} on a side, got {} x {}",
                    kMaxImagePixels, kMaxImageSide, size.width, size.height));
  }
  if (values != static_cast<std::size_t>(channels * size.pixels())) {
    throw InvalidArgument(fmt::format("an image of {} x {} must have {} values, got {}", size.width,
                                      size.height, channels * size.pixels(), values));
  }
}

ImageBatchView view_of(const Image& image) {
  check_pixels(image.size, image.rgb.size(), 3);
  const auto [height, width] = image.size;
  return {.data = image.rgb.data(),
          .dtype = DType::u8,
          .layout = Layout::nhwc,
          .shape = {.count = 1, .channels = 3, .height = height, .width = width},
          .strides = {.image = 3 * image.size.pixels(),
                      .channel = 1,
                      .row = 3 * std::int64_t{width},
                      .column = 3}};
}

void check_start(std::span<const std::uint8_t> start, std::string_view name) {
  if (starts_with(start, kPngStart)) return check_png_header(start, name);
  if (!starts_with(start, kJpegStart)) refuse_format(start, name);
}

Image decode_image(std::span<const std::uint8_t> bytes, std::string_view name,
                   const DecodeOptions& options) {
  check_start(bytes, name);
  Image stored = starts_with(bytes, kPngStart) ? decode_png(bytes, name)
                                               : decode_jpeg(bytes, name, options.note);
  const Orientation orientation = options.exif ? exif_orientation(bytes) : Orientation{};
  if (orientation.upright()) return stored;
  Image image{orientation.turned(stored.size), std::vector<std::uint8_t>(stored.rgb.size())};
  turn_upright(stored.rgb, stored.size, orientation, image.rgb);
  return image;
}

void decode_part(std::span<const std::uint8_t> bytes, std::string_view name,
                 const BoxChoice& choose, ImageSize size, std::span<std::uint8_t> rgb,
                 const DecodeOptions& options) {
  check_pixels(size, rgb.size(), 3);
  const Orientation orientation = options.exif ? exif_orientation(bytes) : Orientation{};
  const auto checked = [&](ImageSize stored) {
    const PixelBox box = choose(orientation.turned(stored));
    check_box(box, orientation.turned(stored));
    return stored_box(box, orientation, stored);
  };
  const ImageSize stored_size = orientation.turned(size);
  // A fresh buffer for every image costs a good part of decoding it.
  thread_local Image decoded;
  Window window{};
  if (starts_with(bytes, kJpegStart)) {
    window = decode_jpeg_part(bytes, name, checked, stored_size, decoded, options.note);
  } else {
    decoded = decode_image(bytes, name);
    const PixelBox box = checked(decoded.size);
    window = {static_cast<double>(box.top), static_cast<double>(box.left),
              static_cast<double>(box.height), static_cast<double>(box.width)};
  }
  if (orientation.upright()) {
    resample_inside(decoded, window, size, rgb.data());
  } else {
    std::vector<std::uint8_t> stored(rgb.size());
    resample_inside(decoded, window, stored_size, stored.data());
    turn_upright(stored, stored_size, orientation, rgb);
  }
  if (decoded.rgb.capacity() > kKeptBytes) decoded = {};
}

std::vector<std::uint8_t> read_image_file(const fs::path& path) {
  InputFile file(path);
  check_start(file.read_up_to(kStartBytes), file.name());
  file.seek(0);
  check_file_size(file, kPlainSize);
  return file.read_up_to(kPlainSize);
}

Image read_image(const fs::path& path, const DecodeOptions& options) {
  return decode_image(read_image_file(path), path.string(), options);
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  check_pixels(image.size, image.rgb.size(), 3);
  return encode_png_rows(image.size, 3, image.rgb);
}

std::vector<std::uint8_t> encode_png_gray(ImageSize size, std::span<const std::uint8_t> gray) {
  check_pixels(size, gray.size(), 1);
  return encode_png_rows(size, 1, gray);
}

void write_png(const fs::path& path, const Image& image) { write_file(path, encode_png(image)); }

void write_png_gray(const fs::path& path, ImageSize size, std::span<const std::uint8_t> gray) {
  write_file(path, encode_png_gray(size, gray));
}

std::vector<fs::path> list_images(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> paths;
  fs::directory_iterator entries(directory, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    const bool leads_nowhere = entries->is_symlink(ignored) && !entries->exists(ignored);
    if (!is_hidden(entries->path()) && has_image_extension(entries->path()) &&
        (entries->is_regular_file(ignored) || leads_nowhere)) {
      paths.push_back(entries->path());  // who reads it says what is wrong
    }
  }
  if (error) {
    throw IoError(fmt::format("cannot list {}: {}", directory.string(), error.message()));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace medley::data
