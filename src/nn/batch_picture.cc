#include "nn/batch_picture.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "medley/report/pictures.h"

namespace medley::nn {
namespace {

/// Image `i` of a batch of values from 0 to 255.
data::Image image_of(const torch::Tensor& shown, std::int64_t i) {
  const std::int64_t channels = shown.size(1);
  data::Image image;
  image.size = {static_cast<std::int32_t>(shown.size(2)), static_cast<std::int32_t>(shown.size(3))};
  const std::int64_t pixels = image.size.pixels();
  image.rgb.resize(static_cast<std::size_t>(3 * pixels));
  const auto* values = shown.data_ptr<float>() + i * channels * pixels;
  for (std::int64_t p = 0; p < pixels; ++p) {
    for (std::int64_t c = 0; c < 3; ++c) {
      const float value = values[std::min(c, channels - 1) * pixels + p];
      image.rgb[static_cast<std::size_t>(3 * p + c)] =
          static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 255.0f)));
    }
  }
  return image;
}

/// "coat 62 %", a line per class that has a say; images of one class are named alone.
std::vector<std::string> lines_of(const MixedLabels& labels, std::int64_t i,
                                  const std::vector<std::string>& classes) {
  std::vector<double> weights(classes.size());
  std::vector<std::size_t> order;
  for (std::int64_t k = i * labels.terms; k < (i + 1) * labels.terms; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const auto label = static_cast<std::size_t>(labels.classes[at]);
    if (std::ranges::find(order, label) == order.end()) order.push_back(label);
    weights[label] += labels.weights[at];
  }
  std::vector<std::string> lines;
  for (const std::size_t label : order) {
    const auto percent = std::lround(100 * weights[label]);
    if (percent == 100) return {classes[label]};
    if (percent != 0) lines.push_back(fmt::format("{} {} %", classes[label], percent));
  }
  return lines;
}

}  // namespace

data::Image batch_picture(const torch::Tensor& batch, const MixedLabels& labels,
                          const std::vector<std::string>& classes) {
  constexpr std::int64_t kMost = 64;
  const torch::Tensor low = batch.amin({0, 2, 3}, true);
  const torch::Tensor range = (batch.amax({0, 2, 3}, true) - low).clamp_min(1e-6);
  const std::int64_t count = std::min(batch.size(0), kMost);
  const torch::Tensor shown = ((batch.slice(0, 0, count) - low) / range * 255).contiguous();
  std::vector<report::GridPicture> pictures;
  for (std::int64_t i = 0; i < count; ++i) {
    pictures.push_back({image_of(shown, i), lines_of(labels, i, classes)});
  }
  return report::draw_grid(pictures);
}

}  // namespace medley::nn
