#include "nn/batch_picture.h"

#include <algorithm>
#include <cmath>

namespace medley::nn {

Image batch_picture(const torch::Tensor& batch) {
  constexpr std::int64_t kColumns = 8;
  constexpr std::int64_t kMost = 64;
  constexpr std::int64_t kGap = 2;
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 25;
  const std::int64_t channels = batch.size(1);
  const std::int64_t height = batch.size(2);
  const std::int64_t width = batch.size(3);
  // As many as there is room for.
  const std::int64_t images = std::min(batch.size(0), kMost);
  const std::int64_t room = kMostPixels / ((height + kGap) * (width + kGap));
  const std::int64_t columns = std::min({images, kColumns, kMaxImageSide / (width + kGap), room});
  if (columns == 0) return {};
  const std::int64_t rows =
      std::min({(images + columns - 1) / columns, kMaxImageSide / (height + kGap), room / columns});
  if (rows == 0) return {};
  const std::int64_t count = std::min(images, rows * columns);
  Image picture;
  picture.size = {static_cast<std::int32_t>(rows * (height + kGap) - kGap),
                  static_cast<std::int32_t>(columns * (width + kGap) - kGap)};
  picture.rgb.assign(static_cast<std::size_t>(3 * picture.size.pixels()), 255);
  const torch::Tensor low = batch.amin({0, 2, 3}, true);
  const torch::Tensor range = (batch.amax({0, 2, 3}, true) - low).clamp_min(1e-6);
  const torch::Tensor shown = ((batch.slice(0, 0, count) - low) / range * 255).contiguous();
  const auto* values = shown.data_ptr<float>();
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t row = i / columns * (height + kGap) + y;
        const std::int64_t column = i % columns * (width + kGap) + x;
        for (std::int64_t c = 0; c < 3; ++c) {
          const std::int64_t plane = i * channels + std::min(c, channels - 1);
          const float value = values[(plane * height + y) * width + x];
          picture.rgb[static_cast<std::size_t>((row * picture.size.width + column) * 3 + c)] =
              static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 255.0f)));
        }
      }
    }
  }
  return picture;
}

}  // namespace medley::nn
