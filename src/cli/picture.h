#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "medley/data/image.h"
#include "medley/mix.h"
#include "medley/plan.h"

namespace medley::cli {

/// Finds the image of a source index; it must have the size of the plan.
using ImageLookup = std::function<data::Image(std::int64_t)>;

/// Makes the picture of `plan.entries[entry]` from the images it needs.
[[nodiscard]] data::Image mix_entry(const MixPlan& plan, std::size_t entry,
                                    const ImageLookup& image_at, const MixOptions& options);

/// The entry's mask as 8-bit gray: 255 M, rounded to nearest (ties to even) and clamped.
[[nodiscard]] std::vector<std::uint8_t> mask_picture(const MixPlan& plan, const MixEntry& entry);

}  // namespace medley::cli
