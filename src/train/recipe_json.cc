#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "data/file.h"
#include "medley/gaussian_design.h"
#include "medley/train/recipe.h"
#include "options/option_json.h"
#include "train/option_hash.h"
#include "train/recipe_values.h"

namespace medley::train {
namespace {

using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr std::string_view kSchema = "medley.recipe/1";

/// Names of fields in recipes of older versions.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOldNames = {
    {{"optimiser", "optimizer"}, {"stddev", "std"}}};

// ---- to JSON ----

/// What is in files, as their paths and a hash; null if there is nothing.
Json json_of_files(const Recipe& recipe, const std::string& option) {
  Json json = nullptr;
  std::string hash;
  const auto files = recipe.files.find(option);
  if (files != recipe.files.end()) {
    if (!files->second.paths.empty()) json["files"] = files->second.paths;
    hash = files->second.hash;
  }
  if (hash.empty()) hash = hash_of(recipe.mix.method.get(option));
  if (!hash.empty()) json["hash"] = hash;
  return json;
}

Json fields_of(const Recipe& recipe) {
  Json json = Json::object();
  const Method& method = recipe.mix.method;
  for (const OptionSpec& field : recipe_options()) {
    json[field.name] = json_of(field.get(&recipe));
    if (field.name != "method") continue;
    for (const OptionSpec& option : method.info().options) {
      json[option.name] =
          is_file(option) ? json_of_files(recipe, option.name) : json_of(method.get(option.name));
    }
  }
  return json;
}

// ---- from JSON ----

/// The value as far as its kind goes; one number serves where a list is wanted.
OptionValue value_of(const OptionSpec& option, const Input& json) {
  if (json.is_object()) {
    fail_argument(fmt::format("{} must be {}, got {}", option.name, allowed_values(option),
                              json.dump().substr(0, 60)));
  }
  if (option.type == OptionType::numbers && json.is_number())
    return std::vector{json.get<double>()};
  return value_from_json(json);
}

std::vector<std::string> paths_of(const std::string& option, const Input& json) {
  if (json.is_string()) return {json.get<std::string>()};
  if (json.is_array() && !json.empty() && std::ranges::all_of(json, &Input::is_string)) {
    return json.get<std::vector<std::string>>();
  }
  fail_argument(fmt::format("{} must be the name of a file or a list of such, got {}", option,
                            json.dump().substr(0, 60)));
}

OptionFiles files_of(const std::string& option, const Input& json) {
  if (!json.is_object()) return {paths_of(option, json)};
  OptionFiles files;
  for (const auto& [key, value] : json.items()) {
    if (key == "files") {
      files.paths = paths_of(option, value);
    } else if (key == "hash" && value.is_string()) {
      files.hash = value.get<std::string>();
    } else {
      fail_argument(fmt::format("{} must have \"files\" and the text \"hash\", got {}", option,
                                json.dump().substr(0, 60)));
    }
  }
  return files;
}

/// A value for an option of methods. Null, which older versions wrote, is none.
void read_method_option(Recipe& recipe, const std::string& name, const Input& json) {
  const std::vector<const MethodInfo*> users = methods_with(recipe, name);
  if (users.empty()) fail_unknown_field(name);
  if (json.is_null()) return;
  if (is_file(*find_option(users.front()->options, name))) {
    recipe.files.insert_or_assign(name, files_of(name, json));
    return;
  }
  keep_value(recipe, name, [&](const OptionSpec& option) { return value_of(option, json); });
}

/// {"mixup": {"alpha": 0.8}, …}
void read_values_of_methods(Recipe& recipe, const Input& json) {
  const auto require_object = [](const Input& value, std::string_view what) {
    if (value.is_object()) return;
    fail_argument(fmt::format("{} must be an object, got {}", what, value.dump().substr(0, 60)));
  };
  require_object(json, "methods");
  for (const auto& [name, options] : json.items()) {
    require_object(options, fmt::format("{} in methods", name));
    Method method(name);
    for (const auto& [key, value] : options.items()) {
      const OptionSpec* option = find_option(method.info().options, key);
      if (option != nullptr && is_file(*option)) {
        fail_argument(fmt::format("{} must be beside methods, not in them", key));
      }
      method.set(key, option == nullptr ? OptionValue() : value_of(*option, value));
      recipe.values.of[name].insert_or_assign(key, method.get(key));
    }
  }
}

void read_draws(Recipe& recipe, const Input& json) {
  constexpr std::int64_t kMost = 1 << 30;
  if (!json.is_number_integer() || json.get<std::int64_t>() < 1 ||
      json.get<std::int64_t>() > kMost) {
    fail_argument(fmt::format("draws must be a whole number >= 1, got {}", json.dump()));
  }
  recipe.draws = json.get<std::int32_t>();
}

void read_field(Recipe& recipe, const std::string& name, const Input& value) {
  if (name == "draws") {
    read_draws(recipe, value);
  } else if (name == "methods") {
    read_values_of_methods(recipe, value);
  } else if (const OptionSpec* option = find_option(recipe_options(), name)) {
    set_option(*option, &recipe, value_of(*option, value));
  } else {
    read_method_option(recipe, name, value);
  }
}

/// draws: the version of a recipe that does not say.
Recipe read_recipe(std::string_view text, std::string_view name, std::int32_t draws) {
  const Input json = parse_json(text, name, JsonError::argument);
  if (!json.is_object()) fail_argument(fmt::format("{} is not a JSON object", name));
  if (!json.contains("schema") || json["schema"] != kSchema) {
    fail_argument(fmt::format("{} must have the schema \"{}\"", name, kSchema));
  }
  Recipe recipe;
  recipe.draws = draws;
  try {
    for (const auto& [key, value] : json.items()) {
      const std::string field(current_name(key));
      if (field != key && json.contains(field)) {
        fail_argument(fmt::format("\"{}\" and \"{}\" are one field", key, field));
      }
      if (key != "schema") read_field(recipe, field, value);
    }
    choose_method(recipe, recipe.mix.method.name());  // with all values
  } catch (const InvalidArgument& problem) {
    fail_argument(fmt::format("{}: {}", name, problem.what()));
  }
  if (!json.contains("test_resize")) recipe.test_resize = usual_test_resize(recipe.image_size);
  return recipe;
}

/// What decides how a run trains.
Json law_of(const Json& field) {
  if (!field.is_object()) return field;
  Json law = field;
  law.erase("files");
  return law;
}

}  // namespace

std::string_view current_name(std::string_view name) noexcept {
  for (const auto& [old, current] : kOldNames) {
    if (name == old) return current;
  }
  return name;
}

std::string to_json(const Recipe& recipe) {
  Json json = {{"schema", kSchema}, {"draws", recipe.draws}};
  json.update(fields_of(recipe));
  // Names of files may have any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Recipe recipe_from_json(std::string_view text, std::string_view name) {
  return read_recipe(text, name, kDrawsVersion);
}

Recipe recorded_recipe(std::string_view text, std::string_view name) {
  return read_recipe(text, name, kFirstDrawsVersion);
}

Recipe read_recorded_recipe(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> text = data::read_file(file);
  return recorded_recipe({reinterpret_cast<const char*>(text.data()), text.size()}, file.string());
}

std::vector<RecipeDifference> differences(const Recipe& a, const Recipe& b) {
  const Json of_a = fields_of(a);
  const Json of_b = fields_of(b);
  const auto text = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::vector<RecipeDifference> found;
  for (const auto& [field, value] : of_a.items()) {
    if (!of_b.contains(field)) continue;  // of another method, which is a difference itself
    const Json& other = of_b[field];
    if (law_of(value) != law_of(other)) found.push_back({field, text(value), text(other)});
  }
  return found;
}

}  // namespace medley::train
