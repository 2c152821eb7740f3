#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "medley/policy.h"
#include "medley/types.h"

namespace medley {

// The words for enumerators, in their order: the spelling in CLI, JSON and Python.

inline constexpr std::array<std::string_view, 4> kDTypes = {"u8", "f16", "bf16", "f32"};
inline constexpr std::array<std::string_view, 2> kLayouts = {"nchw", "nhwc"};
inline constexpr std::array<std::string_view, 3> kForms = {"code", "paper", "calibrated"};
inline constexpr std::array<std::string_view, 3> kPlacements = {"clipped", "inside", "wrap"};
inline constexpr std::array<std::string_view, 2> kLabelRules = {"realised", "drawn"};
inline constexpr std::array<std::string_view, 3> kModes = {"sample", "batch", "pair"};
inline constexpr std::array<std::string_view, 4> kPairings = {"batch", "reverse", "roll",
                                                              "dataset"};
inline constexpr std::array<std::string_view, 3> kClassRules = {"any", "same", "other"};
inline constexpr std::array<std::string_view, 2> kInterpolations = {"bilinear", "nearest"};

template <std::size_t N, typename Enum>
[[nodiscard]] constexpr std::string_view word_of(const std::array<std::string_view, N>& words,
                                                 Enum value) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? words[i] : "?";
}

}  // namespace medley
