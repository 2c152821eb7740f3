#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace medley {

// The words for enumerators, in their order: the spelling in CLI, JSON and Python. Those of the
// plan stand in plan/enums.h, those of mixing in kernels/enums.h, those of options beside them.

inline constexpr std::array<std::string_view, 4> kDTypes = {"u8", "f16", "bf16", "f32"};
inline constexpr std::array<std::string_view, 2> kLayouts = {"nchw", "nhwc"};

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
