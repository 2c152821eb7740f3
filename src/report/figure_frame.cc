#include "report/figure_frame.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace medley::report {
namespace {

constexpr std::int32_t kLine = 18;
constexpr Rgb kGray = {85, 92, 100};

}  // namespace

std::vector<std::string> wrap_text(std::string_view text, std::int32_t width, Font font) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    std::string longer = line;
    if (!line.empty()) longer += ' ';
    longer += word;
    if (!line.empty() && measure_text(longer, font).width > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::int32_t caption_height(std::string_view caption, std::int32_t width) {
  const auto lines = wrap_text(caption, width - 2 * kMargin, Font::normal);
  return static_cast<std::int32_t>(lines.size()) * kLine + kMargin;
}

void draw_frame(Canvas& canvas, std::string_view title, std::string_view caption) {
  const auto [height, width] = canvas.size();
  canvas.text(kMargin, 14, title, {.font = Font::title, .vertical = VerticalAlign::top});
  std::int32_t y = height - caption_height(caption, width) + 6;
  for (const std::string& line : wrap_text(caption, width - 2 * kMargin, Font::normal)) {
    canvas.text(kMargin, y, line, {.color = kGray, .vertical = VerticalAlign::top});
    y += kLine;
  }
}

std::string tick_text(double value) {
  if (std::abs(value) < 1e-12) return "0";
  return fmt::format("{:.3g}", value);
}

}  // namespace medley::report
