#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "medley/train/recipe.h"

namespace medley::train {

/// The name of a field whose name of older versions may be given.
[[nodiscard]] std::string_view current_name(std::string_view name) noexcept;

/// Whether values of the option are read from files.
[[nodiscard]] bool is_file(const OptionSpec& option);

/// The methods that have an option of that name, that of the recipe first.
[[nodiscard]] std::vector<const MethodInfo*> methods_with(const Recipe& recipe,
                                                          std::string_view option);

using ConvertOption = std::function<OptionValue(const OptionSpec& option)>;

/// Gives an option of methods the value that `convert` makes for the first of them that takes it:
/// in the method of the recipe, if that has it, and in those that are chosen later.
void keep_value(Recipe& recipe, const std::string& option, const ConvertOption& convert);

/// Throws InvalidArgument with the nearest name.
[[noreturn]] void fail_unknown_field(std::string_view name);

}  // namespace medley::train
