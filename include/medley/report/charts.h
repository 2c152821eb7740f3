#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "medley/data/image.h"
#include "medley/types.h"

namespace medley::report {

/// An sRGB color.
struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;

  friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// A point of a curve, or a place on a picture, where pixel (x, y) covers the square from (x, y) to
/// (x+1, y+1).
struct Point {
  double x = 0;
  double y = 0;
};

/// One map of numbers.
struct HeatMapPanel {
  std::string title;
  std::string note;  ///< below the title
  ImageSize size;
  std::vector<double> values;  ///< row-major
};

/// Maps side by side on one color scale, with axes, color bar and caption.
struct HeatMapFigure {
  std::string title;
  std::string caption;  ///< wrapped below
  std::string x_label = "dx (pixels)";
  std::string y_label = "dy (pixels)";
  std::string value_label;
  std::vector<HeatMapPanel> panels;
  int columns = 3;
};

/// Draws it. Throws InvalidArgument if a panel has no values or not as many as its size says.
[[nodiscard]] data::Image draw_figure(const HeatMapFigure& figure);

/// A line of a chart.
struct Curve {
  std::string name;
  Rgb color;
  std::vector<Point> points;  ///< in data units
};

/// One chart.
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

/// Draws it.
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

/// Draws it.
[[nodiscard]] data::Image draw_figure(const PictureFigure& figure);

/// A picture of which classes (rows) were taken for which (columns): colors are shares of a row.
/// `counts` is classes x classes, row-major. Up to 40 classes are named, up to 20 have their
/// percentages in the cells. Throws InvalidArgument if the numbers do not fit.
[[nodiscard]] data::Image draw_confusion(std::span<const std::int64_t> counts,
                                         const std::vector<std::string>& classes,
                                         const std::string& caption);

}  // namespace medley::report
