#pragma once

#include <cstdint>
#include <vector>

#include "medley/types.h"

namespace medley::theory {

/// The greatest g_v g_(v + (dy, dx)) over the pixels v for which both lie in the image, or `known`
/// if that is greater; dy >= 0. Rows whose maxima cannot reach what is known are skipped. SIMD.
[[nodiscard]] double greatest_product(const std::vector<double>& g,
                                      const std::vector<double>& row_max, ImageSize size,
                                      std::int32_t dy, std::int32_t dx, double known);

}  // namespace medley::theory
