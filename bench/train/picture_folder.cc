#include "train/picture_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>  // jpeglib.h needs FILE
#include <fstream>

#include <jpeglib.h>

#include <fmt/format.h>

#include "medley/data/dataset.h"
#include "medley/random.h"

namespace medley::bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> encode_jpeg(const data::Image& image, int quality) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&encoder, &bytes, &size);
  encoder.image_height = static_cast<JDIMENSION>(image.size.height);
  encoder.image_width = static_cast<JDIMENSION>(image.size.width);
  encoder.input_components = 3;
  encoder.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, quality, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  std::vector<std::uint8_t> rgb = image.rgb;
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = rgb.data() + std::size_t{3} * encoder.next_scanline * encoder.image_width;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  std::vector<std::uint8_t> file(bytes, bytes + size);
  jpeg_destroy_compress(&encoder);
  std::free(bytes);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg took it so
  return file;
}

struct Tap {
  int first;
  std::vector<float> weights;
};

std::vector<Tap> taps(int from, int to) {
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  const float reach = std::max(scale, 1.0f);
  std::vector<Tap> all;
  for (int i = 0; i < to; ++i) {
    const float center = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    const int first = std::max(static_cast<int>(std::floor(center - reach)) + 1, 0);
    const int last = std::min(static_cast<int>(std::ceil(center + reach)) - 1, from - 1);
    Tap tap{first, {}};
    float sum = 0;
    for (int j = first; j <= last; ++j) {
      tap.weights.push_back(1 - std::abs(static_cast<float>(j) - center) / reach);
      sum += tap.weights.back();
    }
    for (float& weight : tap.weights) weight /= sum;
    all.push_back(tap);
  }
  return all;
}

}  // namespace

PictureFolder::PictureFolder(std::int64_t count, ImageSize size)
    : folder_(fs::temp_directory_path() / fmt::format("medley-bench-{}", getpid())) {
  fs::create_directories(folder_);
  for (std::int64_t i = 0; i < count; ++i) {
    data::Image image = data::synthetic_image(1, i, static_cast<std::int32_t>(i % 10), size);
    RandomStream random(1, 0, static_cast<std::uint64_t>(i), Purpose::picture);
    for (std::uint8_t& value : image.rgb) {
      value = static_cast<std::uint8_t>(
          std::clamp(value + static_cast<int>(random.below(21)) - 10, 0, 255));
    }
    const std::vector<std::uint8_t> file = encode_jpeg(image, 90);
    paths_.push_back(folder_ / fmt::format("{:04}.jpg", i));
    std::ofstream(paths_.back(), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), std::ssize(file));
    bytes_ += file.size();
  }
}

PictureFolder::~PictureFolder() { fs::remove_all(folder_); }

data::ImageSet PictureFolder::images() const {
  data::ImageSet set;
  set.shape = {std::ssize(paths_), 3, 0, 0};
  set.labels.resize(paths_.size());
  set.files = std::make_shared<data::ImageFiles>(paths_, data::ImageFiles::Broken::refuse);
  return set;
}

void decode_plainly(const fs::path& path, const data::PixelBox& box, ImageSize size,
                    std::uint8_t* rgb) {
  const data::Image image = data::read_image(path);
  const std::vector<Tap> rows = taps(box.height, size.height);
  const std::vector<Tap> columns = taps(box.width, size.width);
  // Along the columns first, then along the rows.
  std::vector<float> narrow(static_cast<std::size_t>(box.height) * columns.size() * 3);
  float* to = narrow.data();
  for (int y = 0; y < box.height; ++y) {
    const std::uint8_t* row = image.rgb.data() + 3L * ((box.top + y) * image.size.width + box.left);
    for (const Tap& tap : columns) {
      for (int c = 0; c < 3; ++c) {
        float sum = 0;
        for (std::size_t k = 0; k < tap.weights.size(); ++k) {
          sum +=
              tap.weights[k] * static_cast<float>(row[3 * (tap.first + static_cast<int>(k)) + c]);
        }
        *to++ = sum;
      }
    }
  }
  const std::size_t width = columns.size() * 3;
  for (const Tap& tap : rows) {
    const float* from = narrow.data() + static_cast<std::size_t>(tap.first) * width;
    for (std::size_t x = 0; x < width; ++x) {
      float sum = 0.5f;
      for (std::size_t k = 0; k < tap.weights.size(); ++k) {
        sum += tap.weights[k] * from[k * width + x];
      }
      *rgb++ = static_cast<std::uint8_t>(std::clamp(sum, 0.0f, 255.0f));
    }
  }
}

}  // namespace medley::bench
