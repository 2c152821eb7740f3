#include <algorithm>
#include <cmath>
#include <limits>

#include "medley/error.h"
#include "medley/report/chart.h"
#include "report/figure_frame.h"

namespace medley {
namespace {

constexpr std::int32_t kWidth = 420;
constexpr std::int32_t kHeight = 280;
constexpr std::int32_t kLeft = 64;
constexpr std::int32_t kAbove = 30;
constexpr std::int32_t kBelow = 52;
constexpr Rgb kAxis = {60, 66, 73};
constexpr Rgb kGrid = {226, 229, 233};

struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen(double share) {
    if (!(low <= high)) low = 0, high = 1;
    const double room = high > low ? share * (high - low) : 1;
    low -= room;
    high += room;
  }
};

/// In the upper right corner of the panel, or in the lower one if it hides less there.
void draw_legend(Canvas& canvas, const std::vector<Curve>& curves, std::int32_t right,
                 std::int32_t top, const std::vector<std::vector<Point>>& lines) {
  std::int32_t longest = 0;
  for (const Curve& curve : curves) {
    longest = std::max(longest, measure_text(curve.name, Font::small).width);
  }
  const std::int32_t left = right - longest - 44;
  const std::int32_t height = 16 * static_cast<std::int32_t>(curves.size()) + 8;
  std::int64_t above = 0;
  std::int64_t below = 0;
  for (const std::vector<Point>& line : lines) {
    for (const Point p : line) {
      if (p.x < left) continue;
      above += p.y < top + height ? 1 : 0;
      below += p.y > top + kHeight - height ? 1 : 0;
    }
  }
  const std::int32_t start = below < above ? top + kHeight - height - 4 : top + 4;
  canvas.fill({left - 6, start, longest + 44, height}, {255, 255, 255}, 0.85);
  std::int32_t middle = start + 12;
  for (const Curve& curve : curves) {
    canvas.line({left + 0.0, middle + 0.0}, {left + 24.0, middle + 0.0}, curve.colour, 2.5);
    canvas.text(left + 32, middle, curve.name,
                {.font = Font::small, .vertical = VerticalAlign::middle});
    middle += 16;
  }
}

void draw_panel(Canvas& canvas, const LineFigure& figure, const LinePanel& panel, std::int32_t x,
                std::int32_t y, Span across, Span up) {
  const std::int32_t top = y + kAbove;
  const auto place = [&](Point p) {
    return Point{x + (p.x - across.low) / (across.high - across.low) * kWidth,
                 top + (up.high - p.y) / (up.high - up.low) * kHeight};
  };
  canvas.text(x, y + 6, panel.title, {.font = Font::bold, .vertical = VerticalAlign::top});
  for (const double tick : ticks(across.low, across.high, 6)) {
    const auto at = static_cast<std::int32_t>(std::lround(place({tick, up.low}).x));
    canvas.fill({at, top, 1, kHeight + 5}, kGrid);
    canvas.text(at, top + kHeight + 8, tick_text(tick),
                {.font = Font::small, .align = Align::centre, .vertical = VerticalAlign::top});
  }
  for (const double tick : ticks(up.low, up.high, 6)) {
    const auto at = static_cast<std::int32_t>(std::lround(place({across.low, tick}).y));
    canvas.fill({x - 5, at, kWidth + 5, 1}, kGrid);
    canvas.text(x - 9, at, tick_text(tick),
                {.font = Font::small, .align = Align::right, .vertical = VerticalAlign::middle});
  }
  canvas.frame({x - 1, top - 1, kWidth + 2, kHeight + 2}, kAxis);
  canvas.clip({x, top, kWidth, kHeight});
  std::vector<std::vector<Point>> lines;
  for (const Curve& curve : panel.curves) {
    std::vector<Point>& points = lines.emplace_back();
    for (const Point p : curve.points) points.push_back(place(p));
    canvas.polyline(points, curve.colour, 2);
    if (points.size() == 1) canvas.disc(points[0], 3, curve.colour);  // no line to be seen
  }
  canvas.unclip();
  draw_legend(canvas, panel.curves, x + kWidth, top, lines);
  canvas.text(x + kWidth / 2, top + kHeight + 26, figure.x_label,
              {.font = Font::small, .align = Align::centre, .vertical = VerticalAlign::top});
  canvas.text(x - 46, top + kHeight / 2, figure.y_label,
              {.font = Font::small, .align = Align::centre, .upwards = true});
}

}  // namespace

Image draw_figure(const LineFigure& figure) {
  if (figure.panels.empty()) throw InvalidArgument("a figure needs at least one panel, got none");
  Span across;
  Span up;
  for (const LinePanel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      for (const Point p : curve.points) {
        across.take(p.x);
        up.take(p.y);
      }
    }
  }
  across.widen(0);
  up.widen(0.05);
  const auto count = static_cast<std::int32_t>(figure.panels.size());
  const std::int32_t step = kWidth + kLeft + 16;
  const std::int32_t width = 2 * kMargin + count * step;
  Canvas canvas(
      {kTitleHeight + kAbove + kHeight + kBelow + caption_height(figure.caption, width), width});
  draw_frame(canvas, figure.title, figure.caption);
  for (std::int32_t i = 0; i < count; ++i) {
    draw_panel(canvas, figure, figure.panels[static_cast<std::size_t>(i)],
               kMargin + kLeft + i * step, kTitleHeight, across, up);
  }
  return std::move(canvas).image();
}

}  // namespace medley
