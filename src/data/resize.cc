#include <algorithm>
#include <cmath>

#include "data/codec.h"
#include "medley/data/image.h"

namespace medley {
namespace {

constexpr int kChannels = 3;

/// The input positions first .. first + weights.size() - 1 that make up one output position.
struct Tap {
  std::int32_t first = 0;
  std::vector<double> weights;
};

/// Triangle of half-width max(1, from / to) input pixels around the output pixel's centre, cut at
/// the border and scaled to sum 1.
std::vector<Tap> taps(std::int32_t from, std::int32_t to) {
  const double scale = static_cast<double>(from) / to;
  const double reach = std::max(scale, 1.0);
  std::vector<Tap> taps(static_cast<std::size_t>(to));
  for (std::int32_t i = 0; i < to; ++i) {
    Tap& tap = taps[static_cast<std::size_t>(i)];
    const double centre = (i + 0.5) * scale - 0.5;
    tap.first = std::max(static_cast<std::int32_t>(std::floor(centre - reach)) + 1, 0);
    const std::int32_t last =
        std::min(static_cast<std::int32_t>(std::ceil(centre + reach)) - 1, from - 1);
    double sum = 0;
    for (std::int32_t j = tap.first; j <= last; ++j) {
      tap.weights.push_back(1 - std::abs(j - centre) / reach);
      sum += tap.weights.back();
    }
    for (double& weight : tap.weights) weight /= sum;
  }
  return taps;
}

std::uint8_t rounded(double value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

}  // namespace

Image resize(const Image& image, ImageSize size) {
  check_pixels(image.size, image.rgb.size(), kChannels);
  check_pixels(size, static_cast<std::size_t>(std::max<std::int64_t>(size.pixels(), 0)), 1);
  if (size == image.size) return image;

  const std::vector<Tap> rows = taps(image.size.height, size.height);
  const std::vector<Tap> columns = taps(image.size.width, size.width);
  const std::size_t row_values = static_cast<std::size_t>(image.size.width) * kChannels;
  std::vector<double> blended(row_values);
  Image result{size, {}};
  result.rgb.reserve(static_cast<std::size_t>(size.pixels() * kChannels));
  for (const Tap& row : rows) {
    std::fill(blended.begin(), blended.end(), 0.0);
    const std::uint8_t* in = image.rgb.data() + static_cast<std::size_t>(row.first) * row_values;
    for (const double weight : row.weights) {
      for (std::size_t i = 0; i < row_values; ++i) blended[i] += weight * in[i];
      in += row_values;
    }
    for (const Tap& column : columns) {
      double sums[kChannels] = {};
      const double* from = blended.data() + static_cast<std::size_t>(column.first) * kChannels;
      for (const double weight : column.weights) {
        for (double& sum : sums) sum += weight * *from++;
      }
      for (const double sum : sums) result.rgb.push_back(rounded(sum));
    }
  }
  return result;
}

}  // namespace medley
