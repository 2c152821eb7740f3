#pragma once

#include <cstddef>
#include <string>

#include "medley/plan.h"

namespace medley::cli {

/// The plan for people: a title with the seed, then one line per entry.
[[nodiscard]] std::string plan_table(const MixPlan& plan);

/// "1 sample", "8 samples".
[[nodiscard]] std::string samples_text(std::size_t count);

/// A mask in words: "box 10x12 at (3, 4): 0 inside, 0.62 outside".
[[nodiscard]] std::string mask_text(const Mask& mask);

}  // namespace medley::cli
