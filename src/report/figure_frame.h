#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/canvas.h"

namespace medley::report {

// What all figures share: margins, a title above, a caption below.
inline constexpr std::int32_t kMargin = 24;
inline constexpr std::int32_t kTitleHeight = 44;

/// `text` in lines of at most `width` pixels.
[[nodiscard]] std::vector<std::string> wrap_text(std::string_view text, std::int32_t width,
                                                 Font font);

[[nodiscard]] std::int32_t caption_height(std::string_view caption, std::int32_t width);

/// Draws title and caption on a canvas whose lowest `caption_height` pixels are free.
void draw_frame(Canvas& canvas, std::string_view title, std::string_view caption);

/// Pixels of an axis of `n` to mark, each drawn `scale` wide: both ends and round ones between,
/// where they are at least `apart` from each other on the picture.
[[nodiscard]] std::vector<std::int32_t> axis_marks(std::int32_t n, std::int32_t scale,
                                                   std::int32_t apart);

/// "0.25", "1e-05": short text of a tick.
[[nodiscard]] std::string tick_text(double value);

/// Color of t in [0, 1] on an even scale from dark violet over green to yellow (viridis).
[[nodiscard]] Rgb scale_color(double t) noexcept;

/// Round numbers that divide [low, high] into about `count` steps.
[[nodiscard]] std::vector<double> ticks(double low, double high, int count);

}  // namespace medley::report
