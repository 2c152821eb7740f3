#pragma once

#include <cstdint>

#include "medley/types.h"

namespace medley {

/// Sums over one axis around the center of a Gaussian kernel K, or over the distances on one side
/// of it: of K and of K times the squared distance.
struct KernelSums {
  double value = 0;
  double moment = 0;
};

struct ImageSums {
  KernelSums rows;
  KernelSums columns;
};

/// Sums of exp(-scale d^2) over the rows and over the columns of an image around pixel (cy, cx);
/// moments only if asked for. The same bits on every instruction set.
[[nodiscard]] ImageSums gaussian_image_sums(double scale, std::int32_t cy, std::int32_t cx,
                                            ImageSize size, bool moments);

}  // namespace medley
