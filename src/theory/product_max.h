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

/// Raises full(b - v) to g_v g_b for the pixel v and every pixel b; `full` holds all displacements,
/// (2 height - 1) x (2 width - 1). SIMD.
void add_products(const std::vector<double>& g, ImageSize size, std::int32_t v,
                  std::vector<double>& full);

}  // namespace medley::theory
