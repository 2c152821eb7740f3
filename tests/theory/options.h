#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "medley/policy.h"

namespace medley::test {

/// The value of an option of a policy's method; `absent` if the method does not have it.
template <typename T>
T option_of(const MixPolicy& policy, std::string_view option, T absent = {}) {
  return policy.method.uses(option) ? OptionTraits<T>::from(policy.method.get(option)) : absent;
}

inline std::optional<double> lam_of(const MixPolicy& policy) {
  return option_of<std::optional<double>>(policy, "lam");
}

/// Method, options that are set and label rule, for messages.
inline std::string described(const MixPolicy& policy) {
  std::string text(policy.method.name());
  for (const OptionSpec& option : policy.method.info().options) {
    const OptionValue value = policy.method.get(option.name);
    if (!value.empty()) text += " " + option.name + " " + to_text(value);
  }
  return text + " label " + std::string(name_of(policy.label));
}

}  // namespace medley::test
