#include <algorithm>

#include "medley/error.h"
#include "medley/report/charts.h"
#include "report/figure_frame.h"

namespace medley::report {
namespace {

constexpr std::int32_t kGap = 10;
constexpr std::int32_t kHead = 26;  // column titles
constexpr Rgb kGray = {110, 117, 125};
constexpr Rgb kFrame = {190, 195, 200};

}  // namespace

data::Image draw_figure(const PictureFigure& figure) {
  if (figure.rows.empty()) throw InvalidArgument("a figure needs at least one row, got none");
  std::int32_t tile_w = 0, tile_h = 0, label = 0, count = 0;
  for (const PictureRow& row : figure.rows) {
    label = std::max({label, measure_text(row.title, Font::bold).width,
                      measure_text(row.note, Font::small).width});
    count = std::max(count, static_cast<std::int32_t>(row.pictures.size()));
    for (const data::Image& picture : row.pictures) {
      tile_w = std::max(tile_w, picture.size.width);
      tile_h = std::max(tile_h, picture.size.height);
    }
  }
  const std::int32_t left = kMargin + (label > 0 ? label + 16 : 0);
  const std::int32_t width = std::max(left + count * (tile_w + kGap) + kMargin,
                                      2 * kMargin + measure_text(figure.title, Font::title).width);
  const auto rows = static_cast<std::int32_t>(figure.rows.size());
  const std::int32_t body = kTitleHeight + kHead + rows * (tile_h + kGap);
  Canvas canvas({body + kMargin / 2 + caption_height(figure.caption, width), width});
  draw_frame(canvas, figure.title, figure.caption);
  for (std::size_t i = 0; i < figure.columns.size(); ++i) {
    canvas.text(left + static_cast<std::int32_t>(i) * (tile_w + kGap) + tile_w / 2,
                kTitleHeight + 6, figure.columns[i],
                {.font = Font::bold, .align = Align::center, .vertical = VerticalAlign::top});
  }
  for (std::int32_t r = 0; r < rows; ++r) {
    const PictureRow& row = figure.rows[static_cast<std::size_t>(r)];
    const std::int32_t y = kTitleHeight + kHead + r * (tile_h + kGap);
    canvas.text(kMargin, y + tile_h / 2 - 2, row.title, {.font = Font::bold});
    canvas.text(kMargin, y + tile_h / 2 + 14, row.note, {.font = Font::small, .color = kGray});
    for (std::size_t i = 0; i < row.pictures.size(); ++i) {
      const std::int32_t x = left + static_cast<std::int32_t>(i) * (tile_w + kGap);
      const ImageSize size = row.pictures[i].size;
      canvas.draw(x, y, row.pictures[i]);
      canvas.frame({x - 1, y - 1, size.width + 2, size.height + 2},
                   kFrame);  // white pictures end somewhere
    }
  }
  return std::move(canvas).image();
}

}  // namespace medley::report
