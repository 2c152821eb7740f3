#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace medley::nn {

/// The networks that can be trained, smallest first.
[[nodiscard]] std::vector<std::string_view> model_names();

/// Throws InvalidArgument for an unknown network, with the one that was likely meant, or all.
void check_model(const std::string& name);

/// Number of trainable parameters. Throws InvalidArgument as check_model does.
[[nodiscard]] std::int64_t parameter_count(const std::string& model, std::int64_t classes);

}  // namespace medley::nn
