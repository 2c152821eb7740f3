#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "medley/options.h"
#include "medley/types.h"

namespace medley::cli {

// Options with strict values. A number must be a finite decimal number and nothing else (CLI11 on
// its own takes "nan", "010" as eight and "-1" as 2^64 - 1); everything else is wrong usage. The
// value before parsing is the default that the help shows.

CLI::Option* add_real(CLI::App& app, const std::string& name, double& value,
                      const std::string& description);
/// `absent` says in the help what happens without the option.
CLI::Option* add_real(CLI::App& app, const std::string& name, std::optional<double>& value,
                      const std::string& description, const std::string& absent);

CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int32_t& value,
                         const std::string& description);
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::int64_t& value,
                         const std::string& description);
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::uint64_t& value,
                         const std::string& description);
CLI::Option* add_integers(CLI::App& app, const std::string& name,
                          std::vector<std::uint64_t>& values, const std::string& description);
CLI::Option* add_integer(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                         const std::string& description, const std::string& absent);

/// Refuses a text that is no value of an option of that type; ranges are not looked at.
void check_text(const std::string& name, OptionType type, std::span<const std::string_view> words,
                const std::string& text);

/// An option for a file or folder; an empty name is refused.
CLI::Option* add_path(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& type, const std::string& description);

/// A picture to write.
CLI::Option* add_png(CLI::App& app, const std::string& name, std::string& value,
                     const std::string& description);

/// "HEIGHTxWIDTH", both from 1.
CLI::Option* add_size(CLI::App& app, const std::string& name, std::optional<ImageSize>& value,
                      const std::string& description, const std::string& absent);

/// One of `words`; `chosen` gets its position.
CLI::Option* add_word(CLI::App& app, const std::string& name,
                      std::span<const std::string_view> words, std::size_t initial,
                      const std::function<void(std::size_t)>& chosen,
                      const std::string& description);

/// One of the words of an enumeration, listed in the order of its enumerators.
template <std::size_t N, typename Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name,
                        const std::array<std::string_view, N>& words, Enum& value,
                        const std::string& description) {
  return add_word(
      app, name, words, static_cast<std::size_t>(value),
      [&value](std::size_t i) { value = static_cast<Enum>(i); }, description);
}
template <std::size_t N, typename Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name,
                        const std::array<std::string_view, N>& words, std::optional<Enum>& value,
                        const std::string& description, const std::string& absent) {
  return add_word(
             app, name, words, 0, [&value](std::size_t i) { value = static_cast<Enum>(i); },
             description)
      ->default_str(absent);
}

}  // namespace medley::cli
