#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "medley/error.h"
#include "medley/report/charts.h"
#include "report/figure_frame.h"

namespace medley::report {
namespace {

constexpr std::int32_t kSide = 204;      // of a map, at least
constexpr std::int32_t kLeft = 52;       // y axis
constexpr std::int32_t kAbove = 44;      // title and note of a panel
constexpr std::int32_t kBelow = 44;      // x axis
constexpr std::int32_t kBar = 18;        // width of the color bar
constexpr std::int32_t kLeastBar = 110;  // its height, which holds the ticks and the label
constexpr std::int32_t kBarSpace = 110;  // with its ticks and label
constexpr Rgb kAxis = {60, 66, 73};
constexpr Rgb kGray = {110, 117, 125};

struct Range {
  double low;
  double high;
};

Range range_of(const HeatMapFigure& figure) {
  Range range{0, 0};
  for (const HeatMapPanel& panel : figure.panels) {
    for (const double value : panel.values) {
      range = {std::min(range.low, value), std::max(range.high, value)};
    }
  }
  if (!(range.high > range.low)) range.high = range.low + 1;
  return range;
}

std::int32_t scale_of(const HeatMapPanel& panel) {
  return std::max(1, kSide / std::max(panel.size.height, panel.size.width));
}

data::Image picture_of(const HeatMapPanel& panel, Range range) {
  data::Image image{panel.size, {}};
  for (const double value : panel.values) {
    const Rgb c = scale_color((value - range.low) / (range.high - range.low));
    image.rgb.insert(image.rgb.end(), {c.r, c.g, c.b});
  }
  return image;
}

/// Between the middles of numbers of so many digits, side by side or below each other.
std::int32_t apart_across(std::int32_t n) {
  return measure_text(fmt::format("{}", n), Font::small).width + 6;
}
std::int32_t apart_down() { return measure_text("0", Font::small).height; }

void draw_panel(Canvas& canvas, const HeatMapFigure& figure, const HeatMapPanel& panel,
                std::int32_t x, std::int32_t y, Range range) {
  const std::int32_t scale = scale_of(panel);
  const std::int32_t width = panel.size.width * scale;
  const std::int32_t height = panel.size.height * scale;
  canvas.text(x, y + 4, panel.title, {.font = Font::bold, .vertical = VerticalAlign::top});
  canvas.text(x, y + 22, panel.note,
              {.font = Font::small, .color = kGray, .vertical = VerticalAlign::top});
  const std::int32_t top = y + kAbove;
  canvas.draw(x, top, picture_of(panel, range), scale);
  canvas.frame({x - 1, top - 1, width + 2, height + 2}, kAxis);
  for (const std::int32_t i : axis_marks(panel.size.width, scale, apart_across(panel.size.width))) {
    const std::int32_t at = x + i * scale + scale / 2;
    canvas.fill({at, top + height, 1, 5}, kAxis);
    canvas.text(at, top + height + 7, fmt::format("{}", i),
                {.font = Font::small, .align = Align::center, .vertical = VerticalAlign::top});
  }
  for (const std::int32_t i : axis_marks(panel.size.height, scale, apart_down())) {
    const std::int32_t at = top + i * scale + scale / 2;
    canvas.fill({x - 6, at, 5, 1}, kAxis);
    canvas.text(x - 9, at, fmt::format("{}", i),
                {.font = Font::small, .align = Align::right, .vertical = VerticalAlign::middle});
  }
  canvas.text(x + width / 2, top + height + 22, figure.x_label,
              {.font = Font::small, .align = Align::center, .vertical = VerticalAlign::top});
  canvas.text(x - 36, top + height / 2, figure.y_label,
              {.font = Font::small, .align = Align::center, .upwards = true});
}

void draw_bar(Canvas& canvas, const HeatMapFigure& figure, std::int32_t x, std::int32_t y,
              std::int32_t height, Range range) {
  for (std::int32_t i = 0; i < height; ++i) {
    canvas.fill({x, y + i, kBar, 1}, scale_color(1 - (i + 0.5) / height));
  }
  canvas.frame({x - 1, y - 1, kBar + 2, height + 2}, kAxis);
  for (const double tick : ticks(range.low, range.high, 6)) {
    const double t = (tick - range.low) / (range.high - range.low);
    const auto at = y + static_cast<std::int32_t>(std::lround((1 - t) * (height - 1)));
    canvas.fill({x + kBar, at, 5, 1}, kAxis);
    canvas.text(x + kBar + 9, at, tick_text(tick),
                {.font = Font::small, .vertical = VerticalAlign::middle});
  }
  canvas.text(x + kBar + 58, y + height / 2, figure.value_label,
              {.font = Font::small, .align = Align::center, .upwards = true});
}

}  // namespace

std::vector<std::int32_t> axis_marks(std::int32_t n, std::int32_t scale, std::int32_t apart) {
  const auto fits = [&](std::int32_t from, std::int32_t to) {
    return std::int64_t{to - from} * scale >= apart;
  };
  const std::int32_t last = n - 1;
  const bool both = last > 0 && fits(0, last);
  std::vector<std::int32_t> list = {0};
  const std::int32_t step = std::max(1, n / 4);
  for (std::int32_t i = step; i < n - step / 2; i += step) {
    if (fits(list.back(), i) && (!both || fits(i, last))) list.push_back(i);
  }
  if (both) list.push_back(last);
  return list;
}

Rgb scale_color(double t) noexcept {
  // Least-squares polynomials through the viridis table of matplotlib (CC0).
  constexpr double kTerms[7][3] = {
      {0.2777273272, 0.0054073445, 0.3340998053},   {0.1050930431, 1.4046135299, 1.3845901626},
      {-0.3308618287, 0.2148475595, 0.0950951630},  {-4.6342304990, -5.7991009734, -19.3324409563},
      {6.2282699363, 14.1799333668, 56.6905526007}, {4.7763849977, -13.7451453777, -65.3530326334},
      {-5.4354558559, 4.6458526122, 26.3124352496}};
  t = t >= 0 ? std::min(t, 1.0) : 0;
  std::uint8_t channel[3] = {};
  for (std::size_t c = 0; c < 3; ++c) {
    double value = 0;
    for (std::size_t k = 7; k-- > 0;) value = value * t + kTerms[k][c];
    channel[c] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  }
  return {channel[0], channel[1], channel[2]};
}

std::vector<double> ticks(double low, double high, int count) {
  const double rough = (high - low) / std::max(count, 1);
  if (!(rough > 0) || !std::isfinite(rough)) return {low};
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> list;
  const auto first = static_cast<std::int64_t>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(high / step + 1e-9));
  for (std::int64_t k = first; k <= last; ++k) list.push_back(static_cast<double>(k) * step);
  return list;
}

data::Image draw_figure(const HeatMapFigure& figure) {
  if (figure.panels.empty()) throw InvalidArgument("a figure needs at least one panel, got none");
  std::int32_t wide = 0;
  std::int32_t high = 0;
  for (const HeatMapPanel& panel : figure.panels) {
    if (panel.size.pixels() < 1 || std::ssize(panel.values) != panel.size.pixels()) {
      throw InvalidArgument(fmt::format("a map of {}x{} needs {} values, got {}", panel.size.height,
                                        panel.size.width, panel.size.pixels(),
                                        panel.values.size()));
    }
    const std::int32_t notes = std::max(measure_text(panel.title, Font::bold).width,
                                        measure_text(panel.note, Font::small).width);
    wide = std::max({wide, panel.size.width * scale_of(panel), notes});
    high = std::max(high, panel.size.height * scale_of(panel));
  }
  high = std::max(high, kLeastBar);
  const auto count = static_cast<std::int32_t>(figure.panels.size());
  const std::int32_t columns = std::clamp(figure.columns, 1, count);
  const std::int32_t rows = (count + columns - 1) / columns;
  const std::int32_t step_x = wide + kLeft + 16;
  const std::int32_t step_y = high + kAbove + kBelow;
  const std::int32_t width = std::max(2 * kMargin + columns * step_x + kBarSpace,
                                      2 * kMargin + measure_text(figure.title, Font::title).width);
  const std::int32_t body = kTitleHeight + rows * step_y;
  Canvas canvas({body + kMargin / 2 + caption_height(figure.caption, width), width});
  draw_frame(canvas, figure.title, figure.caption);
  const Range range = range_of(figure);
  for (std::int32_t i = 0; i < count; ++i) {
    draw_panel(canvas, figure, figure.panels[static_cast<std::size_t>(i)],
               kMargin + kLeft + i % columns * step_x, kTitleHeight + i / columns * step_y, range);
  }
  draw_bar(canvas, figure, kMargin + columns * step_x + 8, kTitleHeight + kAbove,
           rows * step_y - kAbove - kBelow, range);
  return std::move(canvas).image();
}

}  // namespace medley::report
