#include "medley/report/pictures.h"

#include <algorithm>
#include <cstddef>

#include "report/canvas.h"

namespace medley::report {
namespace {

constexpr std::int64_t kGap = 8;
constexpr std::int64_t kLine = 14;
constexpr std::int64_t kLeastTile = 88;  // for two words
constexpr std::int64_t kMostPixels = std::int64_t{1} << 25;
constexpr Rgb kInk = {60, 66, 73};

/// `text` within `width` pixels, its end replaced by an ellipsis if need be.
std::string fitted(std::string text, std::int32_t width) {
  if (measure_text(text, Font::small).width <= width) return text;
  while (!text.empty() && measure_text(text + "…", Font::small).width > width) {
    do {
      text.pop_back();
    } while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U);
  }
  return text + "…";
}

}  // namespace

data::Image draw_grid(const std::vector<GridPicture>& pictures, int columns) {
  if (pictures.empty()) return {};
  const ImageSize size = pictures.front().image.size;
  std::size_t lines = 0;
  for (const GridPicture& picture : pictures) lines = std::max(lines, picture.lines.size());
  const std::int64_t scale = lines == 0 ? 1 : (kLeastTile + size.width - 1) / size.width;
  const std::int64_t tile_width = scale * size.width;
  const std::int64_t tile_height = scale * size.height;
  const std::int64_t width = tile_width + kGap;
  const std::int64_t height = tile_height + static_cast<std::int64_t>(lines) * kLine + kGap;

  const std::int64_t room = kMostPixels / (width * height);
  const std::int64_t across = std::min(
      {std::ssize(pictures), std::int64_t{columns}, (data::kMaxImageSide - kGap) / width, room});
  if (across <= 0) return {};
  const std::int64_t down = std::min({(std::ssize(pictures) + across - 1) / across,
                                      (data::kMaxImageSide - kGap) / height, room / across});
  if (down <= 0) return {};
  Canvas canvas({static_cast<std::int32_t>(down * height + kGap),
                 static_cast<std::int32_t>(across * width + kGap)});
  const std::int64_t shown = std::min(std::ssize(pictures), across * down);
  for (std::int64_t i = 0; i < shown; ++i) {
    const GridPicture& picture = pictures[static_cast<std::size_t>(i)];
    const auto x = static_cast<std::int32_t>(kGap + i % across * width);
    const auto y = static_cast<std::int32_t>(kGap + i / across * height);
    canvas.draw(x, y, picture.image, static_cast<std::int32_t>(scale));
    std::int64_t below = y + tile_height + 2;
    for (const std::string& line : picture.lines) {
      canvas.text(x, static_cast<std::int32_t>(below),
                  fitted(line, static_cast<std::int32_t>(tile_width)),
                  {.font = Font::small, .color = kInk, .vertical = VerticalAlign::top});
      below += kLine;
    }
  }
  return std::move(canvas).image();
}

}  // namespace medley::report
