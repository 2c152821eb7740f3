#pragma once

#include <span>
#include <string>
#include <string_view>

namespace medley {

/// The word that somebody most likely meant: the same but for case and "_" for "-", the beginning
/// or the continuation of it, or one letter in three away. Empty if there is none like that.
[[nodiscard]] std::string_view nearest_word(std::string_view text,
                                            std::span<const std::string_view> words);

/// "; did you mean \"word\"?", or nothing.
[[nodiscard]] std::string suggestion(std::string_view text,
                                     std::span<const std::string_view> words);

}  // namespace medley
