#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "medley/options.h"

namespace medley {

/// A number, text, flag, list or null; masks and designs, which have no text, are true or null.
[[nodiscard]] nlohmann::ordered_json json_of(const OptionValue& value);

/// The value that JSON gives for an option; what the option cannot be stays what it is, to be
/// refused by `set_option`.
[[nodiscard]] OptionValue value_from_json(const nlohmann::json& json);

/// The options that have an effect, with their values: none that another one overrides, and where
/// one is absent, what takes its place.
[[nodiscard]] nlohmann::ordered_json effective_options(const std::vector<OptionSpec>& specs,
                                                       const void* object);

}  // namespace medley
