#include "report/canvas.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "medley/error.h"
#include "report/font.h"

namespace medley::report {
namespace {

/// No coordinate that matters is further out, and sums of a few of them do not overflow.
constexpr std::int32_t kFar = 1 << 28;

std::uint8_t mixed(std::uint8_t under, std::uint8_t over, double t) noexcept {
  return static_cast<std::uint8_t>(std::lround(under + (over - under) * t));
}

std::int32_t near(std::int32_t x) noexcept { return std::clamp(x, -kFar, kFar); }

std::int32_t to_pixel(double x) noexcept {
  return x >= -kFar ? static_cast<std::int32_t>(std::min(x, double{kFar})) : -kFar;
}

double distance_to_segment(Point p, Point a, Point b) noexcept {
  const Point ab = {b.x - a.x, b.y - a.y};
  const Point ap = {p.x - a.x, p.y - a.y};
  const double squared = ab.x * ab.x + ab.y * ab.y;
  const double t = squared > 0 ? std::clamp((ap.x * ab.x + ap.y * ab.y) / squared, 0.0, 1.0) : 0.0;
  return std::hypot(ap.x - t * ab.x, ap.y - t * ab.y);
}

/// The pixels within `reach` of the box around two points.
Rect around(Point a, Point b, double reach) noexcept {
  const std::int32_t left = to_pixel(std::floor(std::min(a.x, b.x) - reach));
  const std::int32_t top = to_pixel(std::floor(std::min(a.y, b.y) - reach));
  const std::int32_t right = to_pixel(std::ceil(std::max(a.x, b.x) + reach));
  const std::int32_t bottom = to_pixel(std::ceil(std::max(a.y, b.y) + reach));
  return {left, top, right - left, bottom - top};
}

bool finite(Point p) noexcept { return std::isfinite(p.x) && std::isfinite(p.y); }

}  // namespace

Canvas::Canvas(ImageSize size, Rgb background) : image_{size, {}} {
  if (size.height < 1 || size.width < 1 || size.height > data::kMaxImageSide ||
      size.width > data::kMaxImageSide || size.pixels() > data::kMaxImagePixels) {
    throw InvalidArgument(
        fmt::format("a canvas must have 1 to {} pixels and at most {} on a side, got {} x {}",
                    data::kMaxImagePixels, data::kMaxImageSide, size.width, size.height));
  }
  image_.rgb.resize(static_cast<std::size_t>(3 * size.pixels()));
  unclip();
  fill(clip_, background);
}

void Canvas::clip(const Rect& rect) noexcept {
  unclip();
  clip_ = clipped(rect);
}

void Canvas::unclip() noexcept { clip_ = {0, 0, image_.size.width, image_.size.height}; }

Rect Canvas::clipped(const Rect& rect) const noexcept {
  const auto cut = [](std::int64_t from, std::int64_t extent, std::int64_t low, std::int64_t size) {
    const std::int64_t begin = std::clamp(from, low, low + size);
    const std::int64_t end =
        std::clamp(from + std::max<std::int64_t>(extent, 0), begin, low + size);
    return std::pair(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - begin));
  };
  const auto [x, width] = cut(rect.x, rect.width, clip_.x, clip_.width);
  const auto [y, height] = cut(rect.y, rect.height, clip_.y, clip_.height);
  return {x, y, width, height};
}

void Canvas::blend(std::int32_t x, std::int32_t y, Rgb color, double opacity) noexcept {
  const std::int64_t at = 3 * (std::int64_t{y} * image_.size.width + x);
  std::uint8_t* const pixel = image_.rgb.data() + at;
  const double t = std::clamp(opacity, 0.0, 1.0);
  pixel[0] = mixed(pixel[0], color.r, t);
  pixel[1] = mixed(pixel[1], color.g, t);
  pixel[2] = mixed(pixel[2], color.b, t);
}

void Canvas::fill(const Rect& rect, Rgb color, double opacity) noexcept {
  const Rect area = clipped(rect);
  for (std::int32_t y = area.y; y < area.y + area.height; ++y) {
    for (std::int32_t x = area.x; x < area.x + area.width; ++x) blend(x, y, color, opacity);
  }
}

void Canvas::frame(const Rect& rect, Rgb color, std::int32_t thickness) noexcept {
  const Rect r = {near(rect.x), near(rect.y), std::clamp(rect.width, 0, kFar),
                  std::clamp(rect.height, 0, kFar)};
  const std::int32_t t = std::clamp(thickness, 0, (std::min(r.width, r.height) + 1) / 2);
  const std::int32_t inner = std::max(r.height - 2 * t, 0);
  fill({r.x, r.y, r.width, t}, color);
  fill({r.x, r.y + r.height - t, r.width, t}, color);
  fill({r.x, r.y + t, t, inner}, color);
  fill({r.x + r.width - t, r.y + t, t, inner}, color);
}

void Canvas::line(Point from, Point to, Rgb color, double width, double opacity) {
  const Point points[] = {from, to};
  polyline(points, color, width, opacity);
}

void Canvas::polyline(std::span<const Point> points, Rgb color, double width, double opacity) {
  if (points.empty() || !(width > 0) || !std::all_of(points.begin(), points.end(), finite)) return;
  const double reach = width / 2 + 1;
  Point low = points[0];
  Point high = points[0];
  for (const Point p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  // Coverage of the whole shape first: parts that overlap count once.
  const Rect bounds = clipped(around(low, high, reach));
  std::vector<float> cover(static_cast<std::size_t>(std::int64_t{bounds.width} * bounds.height));
  const auto cover_at = [&](std::int32_t x, std::int32_t y) -> float& {
    return cover[static_cast<std::size_t>(std::int64_t{y - bounds.y} * bounds.width + x -
                                          bounds.x)];
  };
  for (std::size_t i = 0; i < std::max<std::size_t>(points.size() - 1, 1); ++i) {
    const Point a = points[i];
    const Point b = points[std::min(i + 1, points.size() - 1)];
    const Rect area = clipped(around(a, b, reach));
    for (std::int32_t y = area.y; y < area.y + area.height; ++y) {
      for (std::int32_t x = area.x; x < area.x + area.width; ++x) {
        const double distance = distance_to_segment({x + 0.5, y + 0.5}, a, b);
        // A line thinner than a pixel is paler rather than broken.
        const double edge = std::max(width, 1.0) / 2 + 0.5 - distance;
        const double value = std::clamp(edge, 0.0, 1.0) * std::min(width, 1.0);
        cover_at(x, y) = std::max(cover_at(x, y), static_cast<float>(value));
      }
    }
  }
  for (std::int32_t y = bounds.y; y < bounds.y + bounds.height; ++y) {
    for (std::int32_t x = bounds.x; x < bounds.x + bounds.width; ++x) {
      blend(x, y, color, opacity * cover_at(x, y));
    }
  }
}

void Canvas::disc(Point center, double radius, Rgb color, double opacity) {
  if (!finite(center) || !(radius > 0)) return;
  const Rect area = clipped(around(center, center, radius + 1));
  for (std::int32_t y = area.y; y < area.y + area.height; ++y) {
    for (std::int32_t x = area.x; x < area.x + area.width; ++x) {
      const double distance = std::hypot(x + 0.5 - center.x, y + 0.5 - center.y);
      blend(x, y, color, opacity * std::clamp(radius + 0.5 - distance, 0.0, 1.0));
    }
  }
}

void Canvas::draw(std::int32_t x, std::int32_t y, const data::Image& image, std::int32_t scale) {
  (void)view_of(image);  // checks
  const std::int64_t step = std::max(scale, 1);
  const auto [height, width] = image.size;
  const Rect area =
      clipped({x, y, static_cast<std::int32_t>(std::min<std::int64_t>(width * step, kFar)),
               static_cast<std::int32_t>(std::min<std::int64_t>(height * step, kFar))});
  for (std::int32_t to_y = area.y; to_y < area.y + area.height; ++to_y) {
    const std::int64_t row = (std::int64_t{to_y} - y) / step * width;
    for (std::int32_t to_x = area.x; to_x < area.x + area.width; ++to_x) {
      const auto from = static_cast<std::size_t>(3 * (row + (std::int64_t{to_x} - x) / step));
      blend(to_x, to_y, {image.rgb[from], image.rgb[from + 1], image.rgb[from + 2]}, 1);
    }
  }
}

void Canvas::draw_gray(std::int32_t x, std::int32_t y, ImageSize size,
                       std::span<const std::uint8_t> gray, std::int32_t scale) {
  data::Image image{size, {}};
  image.rgb.reserve(3 * gray.size());
  for (const std::uint8_t value : gray) image.rgb.insert(image.rgb.end(), 3, value);
  draw(x, y, image, scale);
}

void Canvas::text(std::int32_t x, std::int32_t y, std::string_view text, const TextStyle& style) {
  x = near(x);
  y = near(y);
  const Face& face = face_of(style.font);
  const std::int32_t width = measure_text(text, style.font).width;
  std::int32_t along = style.align == Align::left     ? 0
                       : style.align == Align::center ? -(width / 2)
                                                      : -width;
  const std::int32_t down = style.vertical == VerticalAlign::baseline ? 0
                            : style.vertical == VerticalAlign::top    ? face.ascent
                                                                      : (face.capitals + 1) / 2;
  while (!text.empty()) {
    const Glyph& glyph = glyph_of(style.font, next_character(text));
    for (std::int32_t row = 0; row < glyph.height; ++row) {
      for (std::int32_t column = 0; column < glyph.width; ++column) {
        const std::int32_t u = along + glyph.left + column;
        const std::int32_t v = down + glyph.top + row;
        const Rect pixel = style.upwards ? Rect{x + v, y - 1 - u, 1, 1} : Rect{x + u, y + v, 1, 1};
        fill(pixel, style.color, coverage_of(glyph, column, row));
      }
    }
    along += glyph.advance;
  }
}

}  // namespace medley::report
