#pragma once

#include "medley/plan.h"

namespace medley {

/// Mean over the pixels of K, the weight of the image that the mask peaks for.
[[nodiscard]] double gaussian_kernel_mean(const GaussianMask& mask, ImageSize size);

/// tau for which the kernel mean at centre (cy, cx) is `mean`, 1/pixels < mean < 1.
[[nodiscard]] double calibrate_tau(std::int32_t cy, std::int32_t cx, ImageSize size, double mean);

}  // namespace medley
