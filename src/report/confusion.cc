#include "medley/report/charts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "medley/error.h"
#include "report/canvas.h"
#include "report/figure_frame.h"

namespace medley::report {
namespace {

constexpr std::int32_t kSide = 480;  // of the matrix, about
constexpr std::size_t kMostNamed = 40;
constexpr std::size_t kMostNumbered = 20;
constexpr std::size_t kLongestName = 18;
constexpr Rgb kAxis = {60, 66, 73};
constexpr Rgb kDark = {20, 24, 28};
constexpr Rgb kLight = {245, 247, 249};

/// What stands beside a row: its name, or its number if there are too many.
std::string label_of(const std::vector<std::string>& classes, std::size_t i) {
  if (classes.size() > kMostNamed) return fmt::format("{}", i);
  const std::string& name = classes[i];
  return name.size() <= kLongestName ? name : name.substr(0, kLongestName - 1) + "…";
}

/// Percentages of each row.
std::vector<double> shares_of(std::span<const std::int64_t> counts, std::size_t classes) {
  std::vector<double> shares(counts.size());
  for (std::size_t row = 0; row < classes; ++row) {
    double all = 0;
    for (std::size_t k = 0; k < classes; ++k) all += static_cast<double>(counts[row * classes + k]);
    for (std::size_t k = 0; k < classes && all > 0; ++k) {
      shares[row * classes + k] = 100 * static_cast<double>(counts[row * classes + k]) / all;
    }
  }
  return shares;
}

}  // namespace

data::Image draw_confusion(std::span<const std::int64_t> counts,
                           const std::vector<std::string>& classes, const std::string& caption) {
  const std::size_t n = classes.size();
  if (n == 0 || counts.size() != n * n) {
    throw InvalidArgument(fmt::format("a confusion matrix of {} classes needs {} numbers, got {}",
                                      n, n * n, counts.size()));
  }
  const auto side = static_cast<std::int32_t>(n);
  const std::int32_t cell = std::max(1, kSide / side);
  const std::size_t step = n > kMostNamed ? std::max<std::size_t>(1, n / 10) : 1;
  std::int32_t names = 0;
  for (std::size_t i = 0; i < n; i += step) {
    names = std::max(names, measure_text(label_of(classes, i), Font::small).width);
  }
  const std::int32_t left = kMargin + names + 34;
  const std::int32_t top = kTitleHeight + 16;
  const std::int32_t matrix = cell * side;
  const std::int32_t width = std::max(left + matrix + kMargin, 420);
  const std::int32_t below = top + matrix + names + 34;
  Canvas canvas({below + caption_height(caption, width), width});
  draw_frame(canvas, "Which class was taken for which", caption);

  const std::vector<double> shares = shares_of(counts, n);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto row = static_cast<std::int32_t>(i / n);
    const auto column = static_cast<std::int32_t>(i % n);
    const Rect place{left + column * cell, top + row * cell, cell, cell};
    canvas.fill(place, scale_color(shares[i] / 100));
    if (n <= kMostNumbered && counts[i] > 0) {
      canvas.text(place.x + cell / 2, place.y + cell / 2, fmt::format("{:.0f}", shares[i]),
                  {.font = Font::small,
                   .color = shares[i] > 55 ? kDark : kLight,
                   .align = Align::center,
                   .vertical = VerticalAlign::middle});
    }
  }
  canvas.frame({left - 1, top - 1, matrix + 2, matrix + 2}, kAxis);
  for (std::size_t i = 0; i < n; i += step) {
    const std::int32_t at = static_cast<std::int32_t>(i) * cell + cell / 2;
    canvas.text(left - 7, top + at, label_of(classes, i),
                {.font = Font::small, .align = Align::right, .vertical = VerticalAlign::middle});
    canvas.text(left + at, top + matrix + 7, label_of(classes, i),
                {.font = Font::small,
                 .align = Align::right,
                 .vertical = VerticalAlign::middle,
                 .upwards = true});
  }
  canvas.text(kMargin + 12, top + matrix / 2, "true class",
              {.font = Font::bold, .align = Align::center, .upwards = true});
  canvas.text(left + matrix / 2, top + matrix + names + 14, "predicted class (percent of a row)",
              {.font = Font::bold, .align = Align::center, .vertical = VerticalAlign::top});
  return std::move(canvas).image();
}

}  // namespace medley::report
