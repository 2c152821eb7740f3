#include "medley/report/pictures.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "medley/data/dataset.h"
#include "medley/error.h"
#include "report/canvas.h"
#include "report/sheet_cell.h"

namespace medley::report {
namespace {

constexpr Rgb kPaper = {250, 250, 252};
constexpr Rgb kInk = {33, 37, 41};
constexpr Rgb kFaint = {108, 117, 125};
constexpr Rgb kRule = {222, 226, 230};
constexpr Rgb kFrame = {173, 181, 189};

constexpr std::int32_t kMargin = 28;
constexpr std::int32_t kLabelWidth = 196;
constexpr std::int32_t kPairGap = 4;  // between a picture and its mask
constexpr std::int32_t kColumnGap = 18;
constexpr std::int32_t kTextGap = 18;  // a line of small text with its distances
constexpr std::int32_t kRowGap = 20;

constexpr TextStyle kSmall = {.font = Font::small, .color = kFaint};
constexpr TextStyle kSmallCentered = {.font = Font::small, .color = kFaint, .align = Align::center};
constexpr TextStyle kHeading = {.font = Font::bold, .color = kInk, .align = Align::center};

void check_options(const ContactSheetOptions& options) {
  if (options.tile < 16 || options.tile > 1024) {
    throw InvalidArgument(fmt::format("tile must be in [16, 1024], got {}", options.tile));
  }
  if (options.lams.empty() || options.lams.size() > 32) {
    throw InvalidArgument(fmt::format("lams must be 1 to 32 numbers, got {}", options.lams.size()));
  }
  for (const double lam : options.lams) {
    if (!std::isfinite(lam)) throw InvalidArgument(fmt::format("lam must be finite, got {}", lam));
  }
}

/// The middle of a picture, as wide as it is high.
data::Image middle_square(const data::Image& picture) {
  const std::int32_t side = std::min(picture.size.height, picture.size.width);
  if (picture.size == ImageSize{side, side}) return picture;
  const auto row_values = static_cast<std::ptrdiff_t>(picture.size.width) * 3;
  const std::ptrdiff_t top = (picture.size.height - side) / 2;
  const std::ptrdiff_t left = (picture.size.width - side) / 2;
  data::Image square{{side, side}, {}};
  for (std::ptrdiff_t row = top; row < top + side; ++row) {
    const auto first = picture.rgb.begin() + row * row_values + 3 * left;
    square.rgb.insert(square.rgb.end(), first, first + std::ptrdiff_t{3} * side);
  }
  return square;
}

/// The caller's sources at the size of a tile, followed by drawn ones.
std::vector<data::Image> tile_sources(const ContactSheetOptions& options, std::int64_t count) {
  // A cat, a flower, a balloon, …: pictures whose colors stay apart when mixed.
  struct Picture {
    std::int32_t object_class;
    std::int64_t index;
  };
  constexpr Picture kPictures[] = {{0, 9}, {2, 26}, {8, 3}, {5, 12}, {7, 40}, {1, 33}};
  constexpr std::uint64_t kPictureSeed = 1;

  const ImageSize size = {options.tile, options.tile};
  std::vector<data::Image> sources;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (i < options.sources.size()) {
      sources.push_back(data::resize(middle_square(options.sources[i]), size));
      continue;
    }
    const auto [object_class, index] = kPictures[i % std::size(kPictures)];
    const auto round = static_cast<std::int64_t>(i / std::size(kPictures));
    sources.push_back(data::synthetic_image(kPictureSeed, index + 100 * round, object_class, size));
  }
  return sources;
}

/// Breaks text at spaces and newlines into lines no wider than `width`.
std::vector<std::string> wrapped(std::string_view text, Font font, std::int32_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string word(text.substr(0, end));
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (lines.back().empty() || measure_text(longer, font).width <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(word);
    }
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void draw_tile(Canvas& canvas, std::int32_t x, std::int32_t y, const data::Image& image) {
  canvas.draw(x, y, image);
  canvas.frame({x - 1, y - 1, image.size.width + 2, image.size.height + 2}, kFrame);
}

void draw_mask(Canvas& canvas, std::int32_t x, std::int32_t y, const SheetCell& cell) {
  canvas.draw_gray(x, y, cell.mixed.size, cell.mask);
  canvas.frame({x - 1, y - 1, cell.mixed.size.width + 2, cell.mixed.size.height + 2}, kFrame);
}

std::string source_name(std::size_t i) {
  return i == 0 ? "own image" : i == 1 ? "partner" : fmt::format("partner {}", i);
}

std::string lam_text(double lam) { return fmt::format("λ = {:.3g}", lam); }

/// "placement clipped, ratio 0.5": what shapes the masks at a given lam.
std::string parameters_of(const MethodInfo& info) {
  constexpr std::string_view kAboutLam[] = {"alpha", "beta", "scale_min", "scale_max"};
  std::string text;
  for (const OptionSpec& option : info.options) {
    if (to_text(option.default_value).empty() ||
        std::ranges::find(kAboutLam, option.name) != std::end(kAboutLam)) {
      continue;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", option.name, option.default_text());
  }
  return text;
}

bool takes_masks(const MethodInfo& info) {
  return std::ranges::find(info.options, OptionType::masks, &OptionSpec::type) !=
         info.options.end();
}

constexpr std::int32_t kCaptionHeight = 118;  // title and five lines
constexpr std::int32_t kNameWidth = 60;       // of a source
constexpr std::int32_t kWeightsWidth = 112;   // of three images

/// Where things lie on a contact sheet.
struct SheetLayout {
  std::int32_t tile;
  std::int32_t header;  // y of the line with the values of lam
  std::int32_t body;    // y of the first row

  explicit SheetLayout(std::int32_t side)
      : tile(side),
        header(kMargin + std::max(side + kTextGap + kRowGap, kCaptionHeight) + 12),
        body(header + 16) {}

  [[nodiscard]] std::int32_t cell_width() const {
    return std::max(2 * tile + kPairGap, kWeightsWidth);
  }
  [[nodiscard]] std::int32_t row_height() const { return tile + kTextGap + kRowGap; }
  [[nodiscard]] std::int32_t x(std::size_t column) const {
    return kMargin + kLabelWidth + static_cast<std::int32_t>(column) * (cell_width() + kColumnGap);
  }
  [[nodiscard]] std::int32_t y(std::size_t row) const {
    return body + kRowGap / 2 + static_cast<std::int32_t>(row) * row_height();
  }
};

void draw_head(Canvas& canvas, const SheetLayout& layout, std::span<const data::Image> sources,
               const ContactSheetOptions& options) {
  std::int32_t x = kMargin;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    draw_tile(canvas, x, kMargin, sources[i]);
    canvas.text(x + layout.tile / 2, kMargin + layout.tile + 14, source_name(i), kSmallCentered);
    x += std::max(layout.tile, kNameWidth) + kColumnGap / 2;
  }
  x += kColumnGap;
  std::int32_t y = kMargin + 22;
  canvas.text(x, y, options.title, {.font = Font::title, .color = kInk});
  const std::string caption =
      options.caption.empty()
          ? "Each cell shows the mixed picture and its mask: white takes the own image, black the "
            "partner, gray blends. λ is the share asked for the own image; the numbers below a "
            "cell are the weights that the labels get."
          : options.caption;
  const std::int32_t room = canvas.size().width - kMargin - x;
  for (const std::string& line : wrapped(caption, Font::normal, std::min(room, 640))) {
    canvas.text(x, y += 19, line, {.font = Font::normal, .color = kFaint});
  }
}

void draw_label(Canvas& canvas, std::int32_t y, const SheetRow& row, std::int32_t height) {
  canvas.text(kMargin, y + 11, row.title, {.font = Font::bold, .color = kInk});
  std::int32_t at = y + 15;
  for (const std::string& line : wrapped(row.note, Font::small, kLabelWidth - 20)) {
    at += 14;
    if (at < y + height) canvas.text(kMargin, at, line, kSmall);
  }
}

}  // namespace

std::vector<SheetRow> default_sheet_rows() {
  std::vector<SheetRow> rows;
  for (const MethodInfo* info : methods()) {
    SheetRow row;
    row.title = info->name;
    row.note = info->summary;
    if (const std::string text = parameters_of(*info); !text.empty()) row.note += "\n" + text;
    if (takes_masks(*info)) row.note += "\nhere a soft disc of mean λ";
    row.policy.method = info->name;
    row.redraw = info->mixture;
    rows.push_back(std::move(row));
  }
  return rows;
}

data::Image contact_sheet(const ContactSheetOptions& options) {
  check_options(options);
  const std::vector<SheetRow> rows = options.rows.empty() ? default_sheet_rows() : options.rows;
  std::int64_t count = 2;
  for (const SheetRow& row : rows) count = std::max(count, source_count(row.policy));
  const std::vector<data::Image> sources = tile_sources(options, count);

  const SheetLayout layout(options.tile);
  const std::size_t columns = options.lams.size();
  Canvas canvas(
      {layout.y(rows.size()) - kRowGap / 2 + kMargin / 2, layout.x(columns) - kColumnGap + kMargin},
      kPaper);
  const std::int32_t right = canvas.size().width - kMargin;
  draw_head(canvas, layout, std::span(sources).first(std::min<std::size_t>(sources.size(), 4)),
            options);
  for (std::size_t column = 0; column < columns; ++column) {
    canvas.text(layout.x(column) + layout.cell_width() / 2, layout.header,
                lam_text(options.lams[column]), kHeading);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t y = layout.y(i);
    canvas.fill({kMargin, y - kRowGap / 2, right - kMargin, 1}, kRule);
    draw_label(canvas, y, rows[i], layout.tile + kTextGap);
    for (std::size_t column = 0; column < (ignores_lam(rows[i]) ? 1 : columns); ++column) {
      const SheetCell cell = mix_cell(rows[i], options.lams[column], sources, options.seed, column);
      const std::int32_t middle = layout.x(column) + layout.cell_width() / 2;
      const std::int32_t x = middle - (2 * layout.tile + kPairGap) / 2;
      draw_tile(canvas, x, y, cell.mixed);
      draw_mask(canvas, x + layout.tile + kPairGap, y, cell);
      canvas.text(middle, y + layout.tile + 14, cell.label, kSmallCentered);
    }
  }
  return std::move(canvas).image();
}

data::Image method_picture(const SheetRow& row, const ContactSheetOptions& options) {
  check_options(options);
  constexpr std::int32_t kEdge = 10;
  constexpr std::int32_t kHead = 30;
  const std::vector<data::Image> sources =
      tile_sources(options, std::max<std::int64_t>(source_count(row.policy), 2));
  const std::int32_t tile = options.tile;
  const auto columns = static_cast<std::int32_t>(ignores_lam(row) ? 1 : options.lams.size());
  const std::int32_t step = tile + kColumnGap / 2;
  const std::int32_t upper = kHead;
  const std::int32_t lower = upper + tile + kColumnGap / 2;
  Canvas canvas({lower + tile + kEdge, 2 * kEdge + tile + kColumnGap + columns * step}, kPaper);

  canvas.text(kEdge + tile / 2, kHead - 10, "sources", kHeading);
  draw_tile(canvas, kEdge, upper, sources[0]);
  // More than one partner: they share the place of one.
  const std::span partners = std::span(sources).subspan(1);
  const auto across =
      static_cast<std::int32_t>(std::ceil(std::sqrt(static_cast<double>(partners.size()))));
  const std::int32_t side = tile / across;
  std::int32_t place = 0;
  for (const data::Image& partner : partners) {
    draw_tile(canvas, kEdge + place % across * side, lower + place / across * side,
              data::resize(partner, {side, side}));
    ++place;
  }
  for (std::int32_t column = 0; column < columns; ++column) {
    const double lam = options.lams[static_cast<std::size_t>(column)];
    const SheetCell cell =
        mix_cell(row, lam, sources, options.seed, static_cast<std::uint64_t>(column));
    const std::int32_t x = kEdge + tile + kColumnGap + column * step;
    canvas.text(x + tile / 2, kHead - 10, ignores_lam(row) ? "unmixed" : lam_text(lam), kHeading);
    draw_tile(canvas, x, upper, cell.mixed);
    draw_mask(canvas, x, lower, cell);
  }
  return std::move(canvas).image();
}

}  // namespace medley::report
