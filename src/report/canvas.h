#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "medley/data/image.h"
#include "medley/report/charts.h"
#include "medley/types.h"

namespace medley::report {

/// The pixels x .. x+width-1, y .. y+height-1.
struct Rect {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;
};

/// Faces of the built-in font, DejaVu Sans: 11, 13, 13 bold and 20 bold pixels. It has ASCII,
/// Latin-1, Greek letters and the mathematical signs that figures need.
enum class Font : std::uint8_t { small, normal, bold, title };

enum class Align : std::uint8_t { left, center, right };

/// What the y of a text means: its baseline, the top of its line, or the middle of its capitals.
enum class VerticalAlign : std::uint8_t { baseline, top, middle };

struct TextStyle {
  Font font = Font::normal;
  Rgb color = {33, 37, 41};
  Align align = Align::left;
  VerticalAlign vertical = VerticalAlign::baseline;
  /// Turned to the left by a quarter, to be read from below; alignments turn with it, so x is where
  /// the baseline (top, middle) lies and `left` means that the text begins at y and goes up.
  bool upwards = false;
};

/// Size of a line of text in pixels.
struct TextExtent {
  std::int32_t width = 0;   ///< distance the pen moves
  std::int32_t ascent = 0;  ///< from the top of the line to the baseline
  std::int32_t height = 0;  ///< of the line
};

/// UTF-8; bytes that are not, and characters that the font lacks, count as a replacement sign.
[[nodiscard]] TextExtent measure_text(std::string_view text, Font font);

/// A picture to draw on, for figures. Everything is clipped to the picture (and to `clip`), so no
/// coordinate is wrong; opacities are clamped to [0, 1]. Blending happens on the sRGB values.
class Canvas {
 public:
  /// Throws InvalidArgument if the size is out of the limits of image.h.
  explicit Canvas(ImageSize size, Rgb background = {255, 255, 255});

  [[nodiscard]] ImageSize size() const noexcept { return image_.size; }
  [[nodiscard]] const data::Image& image() const& noexcept { return image_; }
  [[nodiscard]] data::Image image() && noexcept { return std::move(image_); }

  /// Limits drawing to this part, until the next `clip` or `unclip`.
  void clip(const Rect& rect) noexcept;
  void unclip() noexcept;

  void fill(const Rect& rect, Rgb color, double opacity = 1) noexcept;
  /// A frame along the inside of the rectangle.
  void frame(const Rect& rect, Rgb color, std::int32_t thickness = 1) noexcept;

  /// Anti-aliased lines with round ends. A polyline is one shape: where its parts overlap it is not
  /// darker.
  void line(Point from, Point to, Rgb color, double width = 1, double opacity = 1);
  void polyline(std::span<const Point> points, Rgb color, double width = 1, double opacity = 1);
  void disc(Point center, double radius, Rgb color, double opacity = 1);

  /// Copies a picture with its upper left corner at (x, y), each pixel `scale` pixels wide.
  void draw(std::int32_t x, std::int32_t y, const data::Image& image, std::int32_t scale = 1);
  /// The same for a gray picture; throws InvalidArgument if `gray` does not fit `size`.
  void draw_gray(std::int32_t x, std::int32_t y, ImageSize size, std::span<const std::uint8_t> gray,
                 std::int32_t scale = 1);

  void text(std::int32_t x, std::int32_t y, std::string_view text, const TextStyle& style = {});

 private:
  void blend(std::int32_t x, std::int32_t y, Rgb color, double opacity) noexcept;
  [[nodiscard]] Rect clipped(const Rect& rect) const noexcept;

  data::Image image_;
  Rect clip_;
};

}  // namespace medley::report
