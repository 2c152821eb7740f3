#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "medley/data/image.h"

namespace medley::report {

/// A picture of which classes (rows) were taken for which (columns): colours are shares of a row.
/// `counts` is classes x classes, row-major. Up to 40 classes are named, up to 20 have their
/// percentages in the cells. Throws InvalidArgument if the numbers do not fit.
[[nodiscard]] data::Image draw_confusion(std::span<const std::int64_t> counts,
                                         const std::vector<std::string>& classes,
                                         const std::string& caption);

}  // namespace medley::report
