#include "python/policy.h"

#include <string>

#include <fmt/format.h>

#include "python/option.h"

namespace medley::python {
namespace {

std::string option_list(const MethodInfo& method) {
  std::string list;
  for (const auto* specs : {&method.options, &policy_options()}) {
    for (const OptionSpec& spec : *specs) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", spec.name);
    }
  }
  return list;
}

py::dict info_of(const MethodInfo& method) {
  py::dict info;
  info["name"] = method.name;
  info["title"] = method.title;
  info["summary"] = method.summary;
  info["source"] = method.source;
  info["options"] = describe_options(method.options);
  info["uses_lam"] = method.uses_lam();
  info["unbounded_lam"] = method.unbounded_lam();
  info["in_place"] = method.in_place;
  info["mixture"] = method.mixture;
  info["flat"] = method.flat;
  return info;
}

}  // namespace

MixPolicy make_policy(const std::string& method, const py::dict& options) {
  MixPolicy policy{.method = method};
  const MethodInfo& info = policy.method.info();
  for (const auto& [key, value] : options) {
    const auto name = key.cast<std::string>();
    const OptionSpec* own = find_option(info.options, name);
    const OptionSpec* spec = own != nullptr ? own : find_option(policy_options(), name);
    if (spec == nullptr) {
      throw py::type_error(
          fmt::format("method {} has no option {}; it takes {}", method, name, option_list(info)));
    }
    if (value.is_none()) continue;
    if (own != nullptr) {
      policy.method.set(name, option_from(*spec, value));
    } else {
      set_option(*spec, &policy, option_from(*spec, value));
    }
  }
  return policy;
}

void bind_policy(py::module_& module) {
  module.def(
      "methods",
      [] {
        py::list list;
        for (const MethodInfo* method : methods()) list.append(info_of(*method));
        return list;
      },
      "Every method, a dict each: name, title, summary, source, options by name (type, default, "
      "range, help, ...),\nuses_lam, unbounded_lam, in_place, mixture, flat.");
  module.def(
      "method_info", [](const std::string& name) { return info_of(get_method(name)); },
      py::arg("name"), "What `methods()` says of one.");
  module.def(
      "common_options", [] { return describe_options(policy_options()); },
      "The options that every method takes beside its own, as those of `methods()`.");
}

}  // namespace medley::python
