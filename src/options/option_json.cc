#include "options/option_json.h"

#include <algorithm>

namespace medley {
namespace {

using Json = nlohmann::ordered_json;

struct JsonOf {
  Json operator()(std::monostate) const { return nullptr; }
  template <typename T>
  Json operator()(const T& value) const {
    return value;
  }
  Json operator()(const std::shared_ptr<const MaskSet>& value) const {
    return value ? Json(true) : Json(nullptr);
  }
  Json operator()(const std::shared_ptr<const GaussianDesign>& value) const {
    return value ? Json(true) : Json(nullptr);
  }
};

bool is_number_list(const nlohmann::json& json) {
  return json.is_array() &&
         std::ranges::all_of(json, [](const nlohmann::json& item) { return item.is_number(); });
}

}  // namespace

Json json_of(const OptionValue& value) { return std::visit(JsonOf{}, value.variant()); }

OptionValue value_from_json(const nlohmann::json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (is_number_list(json)) return json.get<std::vector<double>>();
  return json.dump();
}

Json effective_options(const std::vector<OptionSpec>& specs, const void* object) {
  const auto given = [&](const std::string& name) {
    const OptionSpec* const spec = find_option(specs, name);
    return spec != nullptr && !json_of(spec->get(object)).is_null();
  };
  Json json = Json::object();
  for (const OptionSpec& spec : specs) {
    if (std::ranges::any_of(spec.rules.overridden_by, given)) continue;
    Json value = json_of(spec.get(object));
    if (value.is_null()) {
      const OptionSpec* const instead = find_option(specs, spec.rules.absent);
      if (instead == nullptr) continue;
      value = json_of(instead->get(object));
    }
    json[spec.name] = std::move(value);
  }
  return json;
}

}  // namespace medley
