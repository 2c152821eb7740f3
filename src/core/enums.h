#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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
inline constexpr std::array<std::string_view, 2> kPeaks = {"own", "partner"};
inline constexpr std::array<std::string_view, 3> kResamples = {"none", "bilinear", "nearest"};
inline constexpr std::array<std::string_view, 4> kBackends = {"auto", "reference", "cpu", "cuda"};
inline constexpr std::array<std::string_view, 2> kPadModes = {"constant", "reflect"};
inline constexpr std::array<std::string_view, 3> kStores = {"automatic", "cached", "streaming"};

template <std::size_t N, typename Enum>
[[nodiscard]] constexpr std::string_view word_of(const std::array<std::string_view, N>& words,
                                                 Enum value) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? words[i] : "?";
}

/// Throws InvalidArgument: "placement must be clipped, inside or wrap, got the number 77".
[[noreturn]] void fail_enumerator(std::string_view name, std::span<const std::string_view> words,
                                  std::int64_t number);

/// Refuses what was cast from a number that no enumerator has.
template <std::size_t N, typename Enum>
void require_enumerator(std::string_view name, const std::array<std::string_view, N>& words,
                        Enum value) {
  if (static_cast<std::size_t>(value) >= N) {
    fail_enumerator(name, words, static_cast<std::int64_t>(value));
  }
}

}  // namespace medley
