#pragma once

#include <string>
#include <utility>
#include <vector>

#include "medley/data/image.h"
#include "medley/report/canvas.h"
#include "medley/types.h"

namespace medley::report {

/// Colour of t in [0, 1] on an even scale from dark violet over green to yellow (viridis).
[[nodiscard]] Rgb scale_colour(double t) noexcept;

/// One map of numbers.
struct HeatMapPanel {
  std::string title;
  std::string note;  ///< below the title
  ImageSize size;
  std::vector<double> values;  ///< row-major
};

/// Maps side by side on one colour scale, with axes, colour bar and caption.
struct HeatMapFigure {
  std::string title;
  std::string caption;  ///< wrapped below
  std::string x_label = "dx (pixels)";
  std::string y_label = "dy (pixels)";
  std::string value_label;
  std::vector<HeatMapPanel> panels;
  int columns = 3;
};

/// Throws InvalidArgument if a panel has no values or not as many as its size says.
[[nodiscard]] data::Image draw_figure(const HeatMapFigure& figure);

struct Curve {
  std::string name;
  Rgb colour;
  std::vector<Point> points;  ///< in data units
};

struct LinePanel {
  std::string title;
  std::vector<Curve> curves;
};

/// Line charts side by side, each with axes, ticks and a legend.
struct LineFigure {
  std::string title;
  std::string caption;
  std::string x_label;
  std::string y_label;
  std::vector<LinePanel> panels;
  bool whole_x = false;  ///< marks at whole numbers only
};

[[nodiscard]] data::Image draw_figure(const LineFigure& figure);

/// A row of pictures of one size with a name.
struct PictureRow {
  std::string title;
  std::string note;
  std::vector<data::Image> pictures;
};

/// A table of pictures with titles for rows and columns.
struct PictureFigure {
  std::string title;
  std::string caption;
  std::vector<std::string> columns;
  std::vector<PictureRow> rows;
};

[[nodiscard]] data::Image draw_figure(const PictureFigure& figure);

/// Round numbers that divide [low, high] into about `count` steps.
[[nodiscard]] std::vector<double> ticks(double low, double high, int count);

}  // namespace medley::report
