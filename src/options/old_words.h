#pragma once

#include <string_view>

namespace medley {

/// What a word of an option is called today: "realized" for "realised", any other as it is.
[[nodiscard]] constexpr std::string_view current_word(std::string_view word) noexcept {
  return word == "realised" ? "realized" : word;
}

}  // namespace medley
