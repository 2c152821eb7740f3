#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "medley/types.h"

namespace medley::theory {

/// Adds |F(image)|^2 to `power`, (height) x (width/2 + 1), the image being padded with zeros to
/// height x width.
void add_power_spectrum(std::span<const double> image, ImageSize size, std::int32_t height,
                        std::int32_t width, std::vector<double>& power);

/// sum over i of image(i) image(i + d), for d from 0 to the size of the image, from the spectrum.
[[nodiscard]] std::vector<double> autocorrelation(std::span<const double> power, ImageSize size,
                                                  std::int32_t height, std::int32_t width);

}  // namespace medley::theory
