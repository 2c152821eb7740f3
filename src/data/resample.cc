#include "data/resample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/resample_rows.h"

namespace medley::data {
namespace {

/// For every output position, the input positions that make it up, and their weights.
class Taps {
 public:
  /// Triangle of half-width max(1, length / to) input pixels around the output pixel's center, cut
  /// at the border of the image and scaled to sum 1.
  Taps(std::int32_t from, double origin, double length, std::int32_t to) {
    const double scale = length / to;
    const double reach = std::max(scale, 1.0);
    const std::size_t most = static_cast<std::size_t>(2 * std::ceil(reach)) + 1;
    weights_.resize(static_cast<std::size_t>(to) * most);
    taps_.reserve(static_cast<std::size_t>(to));
    for (std::int32_t i = 0; i < to; ++i) {
      const double center = std::clamp(origin + (i + 0.5) * scale - 0.5, 0.0, from - 1.0);
      const std::int32_t first =
          std::max(static_cast<std::int32_t>(std::floor(center - reach)) + 1, 0);
      const std::int32_t last =
          std::min(static_cast<std::int32_t>(std::ceil(center + reach)) - 1, from - 1);
      float* weights = weights_.data() + static_cast<std::size_t>(i) * most;
      taps_.push_back({first, last - first + 1, weights});
      double sum = 0;
      for (std::int32_t j = first; j <= last; ++j) sum += 1 - std::abs(j - center) / reach;
      for (std::int32_t j = first; j <= last; ++j) {
        *weights++ = static_cast<float>((1 - std::abs(j - center) / reach) / sum);
      }
    }
  }

  [[nodiscard]] const std::vector<Tap>& all() const { return taps_; }

  /// Counts positions from the first that is used, and returns it.
  std::int32_t rebase() {
    const std::int32_t begin = taps_.front().first;
    for (Tap& tap : taps_) tap.first -= begin;
    return begin;
  }
  [[nodiscard]] std::int32_t end() const { return taps_.back().first + taps_.back().count; }

 private:
  std::vector<Tap> taps_;
  std::vector<float> weights_;
};

}  // namespace

void resample(const RgbRows& from, const Window& window, ImageSize size, std::uint8_t* rgb) {
  const Taps rows(from.size.height, window.top, window.height, size.height);
  Taps columns(from.size.width, window.left, window.width, size.width);
  const auto left = static_cast<std::size_t>(columns.rebase());
  const std::size_t in_values = static_cast<std::size_t>(columns.end()) * 3;
  const std::size_t out_values = static_cast<std::size_t>(size.width) * 3;
  std::vector<float> in(in_values + kRowSlack);
  std::vector<float> out(out_values + kRowSlack);
  for (const Tap& row : rows.all()) {
    blend_rows(from.data + static_cast<std::size_t>(row.first) * from.stride + left * 3,
               from.stride, row.weights, static_cast<std::size_t>(row.count), in_values, in.data());
    blend_columns(in.data(), columns.all().data(), columns.all().size(), out.data());
    round_to_bytes(out.data(), out_values, rgb);
    rgb += out_values;
  }
}

}  // namespace medley::data
