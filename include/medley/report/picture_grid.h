#pragma once

#include <string>
#include <vector>

#include "medley/data/image.h"

namespace medley::report {

/// A picture with a few words on each line below it.
struct GridPicture {
  data::Image image;
  std::vector<std::string> lines;
};

/// Pictures of one size in rows, small ones enlarged by whole numbers so that their lines fit.
/// Words that are too long for the width of a picture are cut. Pictures at the end are left out
/// where a picture of all would be too large, so the result is empty if not even one fits.
[[nodiscard]] data::Image draw_grid(const std::vector<GridPicture>& pictures, int columns = 8);

}  // namespace medley::report
