#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace medley::nn {

/// The networks that can be trained, smallest first.
[[nodiscard]] std::vector<std::string_view> model_names();

/// Number of trainable parameters. Throws InvalidArgument, with the known names, for an unknown
/// network.
[[nodiscard]] std::int64_t parameter_count(const std::string& model, std::int64_t classes);

}  // namespace medley::nn
