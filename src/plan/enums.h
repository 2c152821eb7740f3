#pragma once

#include <array>
#include <string_view>

#include "core/enums.h"
#include "medley/plan.h"
#include "medley/policy.h"

namespace medley {

inline constexpr std::array<std::string_view, 3> kForms = {"code", "paper", "calibrated"};
inline constexpr std::array<std::string_view, 3> kPlacements = {"clipped", "inside", "wrap"};
inline constexpr std::array<std::string_view, 2> kLabelRules = {"realised", "drawn"};
inline constexpr std::array<std::string_view, 3> kModes = {"sample", "batch", "pair"};
inline constexpr std::array<std::string_view, 4> kPairings = {"batch", "reverse", "roll",
                                                              "dataset"};
inline constexpr std::array<std::string_view, 3> kClassRules = {"any", "same", "other"};
inline constexpr std::array<std::string_view, 2> kInterpolations = {"bilinear", "nearest"};
inline constexpr std::array<std::string_view, 2> kGridInterpolations = {"constant", "bilinear"};
inline constexpr std::array<std::string_view, 2> kPeaks = {"own", "partner"};
inline constexpr std::array<std::string_view, 3> kResamples = {"none", "bilinear", "nearest"};

}  // namespace medley
