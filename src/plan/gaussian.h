#pragma once

#include <optional>

#include "medley/plan.h"

namespace medley {

/// tau of a kernel whose mean over an unbounded image is `share`; of one row, over an unbounded
/// row.
[[nodiscard]] constexpr double gaussian_tau(double share, ImageSize size) noexcept {
  return size.one_row() ? share * share * static_cast<double>(size.pixels()) : share;
}

/// Mean over the pixels of K, the weight of the image that the mask peaks for.
[[nodiscard]] double gaussian_kernel_mean(const GaussianMask& mask, ImageSize size);

/// tau for which the kernel mean at center (cy, cx) is `mean`, 1/pixels < mean < 1.
[[nodiscard]] double calibrate_tau(std::int32_t cy, std::int32_t cx, ImageSize size, double mean);

/// tau of a kernel that covers 1 - lam, but never less than its center pixel. None where all pixels
/// have the weight lam instead: near both ends, and of one pixel alone.
[[nodiscard]] std::optional<double> calibrated_tau(std::int32_t cy, std::int32_t cx, ImageSize size,
                                                   double lam);

}  // namespace medley
