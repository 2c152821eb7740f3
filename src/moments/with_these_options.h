#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "medley/method.h"

namespace medley::theory {

/// " with these options" for sentences on what a method has not, if it has it with its defaults;
/// else nothing.
template <typename Has>
[[nodiscard]] std::string_view with_these_options(const Method& method, Has has) {
  const std::shared_ptr<MethodBase> defaults = method.base().clone();
  for (const OptionSpec& option : method.info().options) {
    option.set(defaults->fields(), option.default_value);
  }
  return std::invoke(has, *defaults) ? " with these options" : "";
}

}  // namespace medley::theory
