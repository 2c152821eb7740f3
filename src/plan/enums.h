#pragma once

#include <array>
#include <string_view>

#include "core/enums.h"
#include "medley/plan.h"

namespace medley {

inline constexpr std::array<std::string_view, 2> kGridInterpolations = {"constant", "bilinear"};
inline constexpr std::array<std::string_view, 2> kPeaks = {"own", "partner"};
inline constexpr std::array<std::string_view, 3> kResamples = {"none", "bilinear", "nearest"};

}  // namespace medley
