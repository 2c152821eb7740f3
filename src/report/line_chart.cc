#include <algorithm>
#include <cmath>
#include <limits>

#include "medley/error.h"
#include "medley/report/charts.h"
#include "report/figure_frame.h"

namespace medley::report {
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

using Lines = std::vector<std::vector<Point>>;

/// About how many pixels of the lines a rectangle covers.
double covered(const Rect& area, const Lines& lines) {
  double pixels = 0;
  for (const std::vector<Point>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const Point from = line[i > 0 ? i - 1 : 0];
      const Point way = {line[i].x - from.x, line[i].y - from.y};
      const int steps = 1 + static_cast<int>(std::hypot(way.x, way.y));
      for (int k = 1; k <= steps; ++k) {
        const double x = from.x + way.x * k / steps - area.x;
        const double y = from.y + way.y * k / steps - area.y;
        pixels += x >= 0 && x < area.width && y >= 0 && y < area.height ? 1 : 0;
      }
    }
  }
  return pixels;
}

/// Where a panel's lines and texts go. `up` is the span of its height.
struct Place {
  std::int32_t x;
  std::int32_t top;
  Span across;
  Span up;

  [[nodiscard]] Point operator()(Point p) const {
    return {x + (p.x - across.low) / (across.high - across.low) * kWidth,
            top + (up.high - p.y) / (up.high - up.low) * kHeight};
  }
  [[nodiscard]] Lines lines(const LinePanel& panel) const {
    Lines lines;
    for (const Curve& curve : panel.curves) {
      std::vector<Point>& points = lines.emplace_back();
      for (const Point p : curve.points) points.push_back((*this)(p));
    }
    return lines;
  }
};

std::int32_t legend_height(const LinePanel& panel) {
  return 16 * static_cast<std::int32_t>(panel.curves.size()) + 8;
}

/// The corner of the panel where a legend hides least of the lines, the upper right one if several
/// do.
Rect legend_area(const LinePanel& panel, const Place& place) {
  constexpr std::int32_t kGap = 4;
  std::int32_t longest = 0;
  for (const Curve& curve : panel.curves) {
    longest = std::max(longest, measure_text(curve.name, Font::small).width);
  }
  const std::int32_t width = longest + 44;
  const std::int32_t height = legend_height(panel);
  const std::int32_t left = place.x + kGap;
  const std::int32_t right = place.x + kWidth - width - 6;
  const std::int32_t high = place.top + kGap;
  const std::int32_t low = place.top + kHeight - height - kGap;
  const Rect corners[] = {{right, high, width, height},
                          {right, low, width, height},
                          {left, high, width, height},
                          {left, low, width, height}};
  const Lines lines = place.lines(panel);
  return *std::ranges::min_element(corners, {},
                                   [&](const Rect& corner) { return covered(corner, lines); });
}

void draw_legend(Canvas& canvas, const LinePanel& panel, const Place& place) {
  const Rect area = legend_area(panel, place);
  const std::int32_t left = area.x + 6;
  canvas.fill(area, {255, 255, 255}, 0.85);
  std::int32_t middle = area.y + 12;
  for (const Curve& curve : panel.curves) {
    canvas.line({left + 0.0, middle + 0.0}, {left + 24.0, middle + 0.0}, curve.color, 2.5);
    canvas.text(left + 32, middle, curve.name,
                {.font = Font::small, .vertical = VerticalAlign::middle});
    middle += 16;
  }
}

/// Room below the lines for the legends, if one would hide much of them in all corners.
Span with_room(const std::vector<LinePanel>& panels, Span across, Span up) {
  constexpr double kHidden = 20;  // pixels
  double share = 0;
  for (const LinePanel& panel : panels) {
    const Place place{0, 0, across, up};
    if (covered(legend_area(panel, place), place.lines(panel)) > kHidden) {
      share = std::max(share, std::min(0.5, static_cast<double>(legend_height(panel)) / kHeight));
    }
  }
  up.low -= (up.high - up.low) * share / (1 - share);
  return up;
}

void draw_panel(Canvas& canvas, const LineFigure& figure, const LinePanel& panel, std::int32_t x,
                std::int32_t y, Span across, Span up) {
  const std::int32_t top = y + kAbove;
  const Place place{x, top, across, up};
  canvas.text(x, y + 6, panel.title, {.font = Font::bold, .vertical = VerticalAlign::top});
  for (const double tick : ticks(across.low, across.high, 6)) {
    if (figure.whole_x && std::abs(tick - std::round(tick)) > 1e-6) continue;
    const auto at = static_cast<std::int32_t>(std::lround(place({tick, up.low}).x));
    canvas.fill({at, top, 1, kHeight + 5}, kGrid);
    canvas.text(at, top + kHeight + 8, tick_text(tick),
                {.font = Font::small, .align = Align::center, .vertical = VerticalAlign::top});
  }
  for (const double tick : ticks(up.low, up.high, 6)) {
    const auto at = static_cast<std::int32_t>(std::lround(place({across.low, tick}).y));
    canvas.fill({x - 5, at, kWidth + 5, 1}, kGrid);
    canvas.text(x - 9, at, tick_text(tick),
                {.font = Font::small, .align = Align::right, .vertical = VerticalAlign::middle});
  }
  canvas.frame({x - 1, top - 1, kWidth + 2, kHeight + 2}, kAxis);
  canvas.clip({x, top, kWidth, kHeight});
  const Lines lines = place.lines(panel);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Rgb color = panel.curves[i].color;
    canvas.polyline(lines[i], color, 2);
    if (lines[i].size() == 1) canvas.disc(lines[i][0], 3, color);  // no line to be seen
  }
  canvas.unclip();
  draw_legend(canvas, panel, place);
  canvas.text(x + kWidth / 2, top + kHeight + 26, figure.x_label,
              {.font = Font::small, .align = Align::center, .vertical = VerticalAlign::top});
  canvas.text(x - 46, top + kHeight / 2, figure.y_label,
              {.font = Font::small, .align = Align::center, .upwards = true});
}

}  // namespace

data::Image draw_figure(const LineFigure& figure) {
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
  up = with_room(figure.panels, across, up);
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

}  // namespace medley::report
