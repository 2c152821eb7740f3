#include "python/policy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "medley/error.h"
#include "medley/gaussian_design.h"
#include "plan/enums.h"
#include "python/array.h"
#include "python/convert.h"
#include "python/design.h"

namespace medley::python {
namespace {

template <typename Enum, std::size_t N>
Enum word_of(std::string_view name, py::handle value,
             const std::array<std::string_view, N>& words) {
  const std::string text = word(name, value);
  const auto* const found = std::ranges::find(words, text);
  if (found == words.end()) {
    std::string list;
    for (const std::string_view w : words) list += fmt::format("{}{}", list.empty() ? "" : ", ", w);
    throw InvalidArgument(fmt::format("{} must be one of {}, got \"{}\"", name, list, text));
  }
  return static_cast<Enum>(found - words.begin());
}

std::shared_ptr<const MaskSet> mask_set(py::handle value) {
  const Array array(value, {.name = "masks"});
  if (!is_float(array.element())) {
    throw py::type_error(fmt::format("masks must be floats, weights of the own image, got {}",
                                     name_of(array.element())));
  }
  const auto& shape = array.shape();
  if ((shape.size() != 2 && shape.size() != 3) || array.values() == 0) {
    throw InvalidArgument(
        fmt::format("masks must have the shape K, H, W or H, W, got {}", array.shape_text()));
  }
  auto masks = std::make_shared<MaskSet>();
  masks->size = {static_cast<std::int32_t>(shape[shape.size() - 2]),
                 static_cast<std::int32_t>(shape[shape.size() - 1])};
  masks->values = floats(array, "masks");
  return masks;
}

using Setter = std::function<void(MixPolicy&, std::string_view, py::handle)>;

struct Option {
  std::string_view name;
  bool common;
  Setter set;
};

Setter set_real(double MixPolicy::*field) {
  return [field](MixPolicy& p, std::string_view n, py::handle v) { p.*field = real(n, v); };
}
Setter set_optional(std::optional<double> MixPolicy::*field) {
  return [field](MixPolicy& p, std::string_view n, py::handle v) { p.*field = real(n, v); };
}
template <typename Enum, typename Field, std::size_t N>
Setter set_word(Field MixPolicy::*field, const std::array<std::string_view, N>& words) {
  return [field, &words](MixPolicy& p, std::string_view n, py::handle v) {
    p.*field = word_of<Enum>(n, v, words);
  };
}
Setter set_class_rule(ClassRule rule) {
  return [rule](MixPolicy& p, std::string_view n, py::handle v) {
    if (!boolean(n, v)) return;
    if (p.classes != ClassRule::any) {
      throw InvalidArgument("same_class and other_class exclude each other");
    }
    p.classes = rule;
  };
}

const std::vector<Option>& options_table() {
  static const std::vector<Option> table = {
      {"alpha", false, set_optional(&MixPolicy::alpha)},
      {"beta", false, set_optional(&MixPolicy::beta)},
      {"placement", false, set_word<Placement>(&MixPolicy::placement, kPlacements)},
      {"form", false, set_word<Form>(&MixPolicy::form, kForms)},
      {"ratio", false, set_real(&MixPolicy::ratio)},
      {"gamma", false, set_optional(&MixPolicy::gamma)},
      {"q_mix", false, set_real(&MixPolicy::q_mix)},
      {"n", false, [](MixPolicy& p, std::string_view n, py::handle v) { p.n = integer(n, v); }},
      {"power", false, set_optional(&MixPolicy::power)},
      {"decay", false, set_real(&MixPolicy::decay)},
      {"soft", false, set_real(&MixPolicy::soft)},
      {"scale_min", false, set_real(&MixPolicy::scale_min)},
      {"scale_max", false, set_real(&MixPolicy::scale_max)},
      {"interpolation", false, set_word<Interpolation>(&MixPolicy::interpolation, kInterpolations)},
      {"sigma", false, set_real(&MixPolicy::sigma)},
      {"length", false, set_real(&MixPolicy::length)},
      {"design", false,
       [](MixPolicy& p, std::string_view, py::handle v) { p.design = design_of(v); }},
      {"masks", false, [](MixPolicy& p, std::string_view, py::handle v) { p.masks = mask_set(v); }},
      {"lam", true, set_optional(&MixPolicy::lam)},
      {"prob", true, set_real(&MixPolicy::prob)},
      {"label", true, set_word<LabelRule>(&MixPolicy::label, kLabelRules)},
      {"mode", true, set_word<Mode>(&MixPolicy::mode, kModes)},
      {"pairing", true, set_word<Pairing>(&MixPolicy::pairing, kPairings)},
      {"no_self", true,
       [](MixPolicy& p, std::string_view n, py::handle v) { p.no_self = boolean(n, v); }},
      {"same_class", true, set_class_rule(ClassRule::same)},
      {"other_class", true, set_class_rule(ClassRule::other)},
      {"pad", true,
       [](MixPolicy& p, std::string_view n, py::handle v) { p.augment.pad = integer(n, v); }},
      {"flip", true,
       [](MixPolicy& p, std::string_view n, py::handle v) { p.augment.flip = real(n, v); }},
  };
  return table;
}

bool takes(const MethodInfo& method, const Option& option) {
  return option.common || method.uses(option.name);
}

std::string option_list(const MethodInfo& method) {
  std::string list;
  for (const Option& option : options_table()) {
    if (takes(method, option)) list += fmt::format("{}{}", list.empty() ? "" : ", ", option.name);
  }
  return list;
}

py::dict info_of(const MethodInfo& method) {
  py::dict options;
  for (const OptionInfo& option : method.options) {
    options[py::str(std::string(option.name))] = std::string(option.default_value);
  }
  py::dict info;
  info["name"] = std::string(method.name);
  info["summary"] = std::string(method.summary);
  info["source"] = std::string(method.source);
  info["options"] = options;
  info["uses_lam"] = method.uses_lam;
  info["unbounded_lam"] = method.unbounded_lam;
  info["in_place"] = method.in_place;
  return info;
}

}  // namespace

MixPolicy make_policy(const std::string& method, const py::dict& options) {
  const MethodInfo& info = get_method(method);
  MixPolicy policy;
  policy.method = method;
  for (const auto& [key, value] : options) {
    const auto name = key.cast<std::string>();
    const auto found = std::ranges::find(options_table(), name, &Option::name);
    if (found == options_table().end() || !takes(info, *found)) {
      throw py::type_error(
          fmt::format("method {} has no option {}; it takes {}", method, name, option_list(info)));
    }
    if (!value.is_none()) found->set(policy, name, value);
  }
  return policy;
}

const std::vector<std::string_view>& common_options() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Option& option : options_table()) {
      if (option.common) list.push_back(option.name);
    }
    return list;
  }();
  return names;
}

void bind_policy(py::module_& module) {
  module.def(
      "methods",
      [] {
        py::list list;
        for (const MethodInfo* method : methods()) list.append(info_of(*method));
        return list;
      },
      "Every method: name, summary, source, options with their defaults as text, uses_lam, "
      "unbounded_lam, "
      "in_place.");
  module.def("common_options", [] {
    py::list list;
    for (const std::string_view name : common_options()) list.append(std::string(name));
    return list;
  });
}

}  // namespace medley::python
