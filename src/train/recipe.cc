#include "medley/train/recipe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json.h"
#include "data/file.h"
#include "medley/error.h"
#include "medley/sampler.h"
#include "plan/enums.h"
#include "train/builtin_recipes.h"

namespace medley {
namespace {

using Json = nlohmann::ordered_json;  // for writing
using Input = nlohmann::json;         // for reading

constexpr std::string_view kSchema = "medley.recipe/1";
constexpr std::array<std::string_view, 2> kOptimisers = {"sgd", "adamw"};
constexpr std::array<std::string_view, 4> kSchedules = {"constant", "step", "cosine", "one-cycle"};
constexpr std::array<std::string_view, 2> kLosses = {"cross-entropy", "bce-softmax"};

/// An enumeration with its words, as a field. Of an optional one, null is none.
template <typename Field, std::size_t N>
struct Words {
  Field& value;
  const std::array<std::string_view, N>& words;
};
template <typename Field, std::size_t N>
Words(Field&, const std::array<std::string_view, N>&) -> Words<Field, N>;

template <typename Field>
struct WordField {
  using Enum = Field;
  static constexpr bool kOptional = false;
};
template <typename E>
struct WordField<std::optional<E>> {
  using Enum = E;
  static constexpr bool kOptional = true;
};

/// Calls visit(name, field, help) for every field, in the order of files and help texts.
template <typename R, typename Visit>
void for_each_field(R& r, const Visit& visit) {
  visit("name", r.name, "what the recipe is called");
  visit("model", r.model, "network");
  visit("epochs", r.epochs, "passes over the training set");
  visit("batch", r.batch, "images per step");
  visit("eval_every", r.eval_every, "epochs between scores; the last is always scored");
  visit("optimiser", Words{r.optimiser, kOptimisers}, "how parameters follow gradients");
  visit("lr", r.lr, "learning rate");
  visit("momentum", r.momentum, "of sgd; beta1 of adamw");
  visit("nesterov", r.nesterov, "sgd: look ahead");
  visit("beta2", r.beta2, "adamw");
  visit("weight_decay", r.weight_decay, "on all parameters");
  visit("schedule", Words{r.schedule, kSchedules}, "of the learning rate");
  visit("milestones", r.milestones, "step: shares of the epochs, such as 0.5,0.75");
  visit("lr_factor", r.lr_factor, "step: factor at a milestone");
  visit("lr_final", r.lr_final, "cosine, one-cycle: share of lr at the end");
  visit("warmup_epochs", r.warmup_epochs, "lr grows linearly for so long");
  visit("loss", Words{r.loss, kLosses}, "bce-softmax: binary cross entropy of the softmax");
  visit("smoothing", r.smoothing, "label smoothing");
  visit("clip_norm", r.clip_norm, "greatest norm of the gradient, 0 for any");
  visit("accumulate", r.accumulate, "batches per optimiser step");
  visit("ema", r.ema, "decay of averaged weights per step, 0 for none");
  visit("pad", r.pad, "random crop from an image padded by so many pixels");
  visit("image_size", r.image_size, "folders: side of the images that the network sees");
  visit("crop_area", r.crop_area, "folders: least share of a picture in a random crop");
  visit("crop_aspect", r.crop_aspect, "folders: greatest ratio of the sides of a random crop");
  visit("test_resize", r.test_resize,
        "folders: shorter side of test pictures before the crop; 8/7 of image_size unless given");
  visit("exif", r.exif, "folders: turn pictures as their Exif orientation says");
  visit("flip", r.flip, "chance of mirroring");
  visit("mean", r.mean, "of a channel, for values in [0, 1]");
  visit("stddev", r.stddev, "of a channel, for values in [0, 1]");
  auto& m = r.mix;
  visit("method", m.method, "how to mix");
  visit("mode", Words{m.mode, kModes}, "what shares a draw");
  visit("pairing", Words{m.pairing, kPairings}, "who is the partner");
  visit("alpha", m.alpha, "lam is drawn from Beta(alpha, beta)");
  visit("beta", m.beta, "second parameter, alpha unless given");
  visit("lam", m.lam, "a fixed share instead");
  visit("prob", m.prob, "chance that a draw mixes at all");
  visit("placement", Words{m.placement, kPlacements}, "of boxes");
  visit("form", Words{m.form, kForms},
        "hmix, gmix, fmix: of code or paper; the method's own unless given");
  visit("ratio", m.ratio, "hmix: share of 1-lam in the box");
  visit("gamma", m.gamma, "hmix: ratio drawn from Beta(gamma, gamma)");
  visit("q_mix", m.q_mix, "stochastic: chance of mixup");
  visit("n", m.n, "nmixup: images per output");
  visit("power", m.power, "nmixup: zeta-mixup weights");
  visit("decay", m.decay, "fmix: spectral decay");
  visit("soft", m.soft, "fmix: share of soft pixels");
  visit("scale_min", m.scale_min, "resizemix: least side");
  visit("scale_max", m.scale_max, "resizemix: greatest side");
  visit("label", Words{m.label, kLabelRules}, "label weight");
  visit("no_self", m.no_self, "never mix an image with itself");
}

template <typename Field, std::size_t N>
std::string listed(const Words<Field, N>& field, const char* between) {
  std::string all;
  for (const std::string_view word : field.words)
    all.append(all.empty() ? "" : between).append(word);
  return all;
}

// ---- to JSON ----

Json json_of(const std::string& value) { return value; }
Json json_of(bool value) { return value; }
Json json_of(std::integral auto value) { return value; }
Json json_of(double value) { return value; }
Json json_of(const std::vector<double>& value) { return value; }
Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
template <typename Field, std::size_t N>
Json json_of(const Words<Field, N>& field) {
  if constexpr (WordField<std::remove_const_t<Field>>::kOptional) {
    return field.value ? Json(word_of(field.words, *field.value)) : Json(nullptr);
  } else {
    return word_of(field.words, field.value);
  }
}

// ---- from JSON; false if the value is of another kind ----

bool assign(std::string& field, const Input& json) {
  if (!json.is_string()) return false;
  field = json.get<std::string>();
  return true;
}

bool assign(bool& field, const Input& json) {
  if (!json.is_boolean()) return false;
  field = json.get<bool>();
  return true;
}

template <std::integral Integer>
requires(!std::same_as<Integer, bool>) bool assign(Integer& field, const Input& json) {
  if (!json.is_number_integer()) return false;
  const auto value = json.get<std::int64_t>();
  if (!std::in_range<Integer>(value)) return false;
  field = static_cast<Integer>(value);
  return true;
}

bool assign(double& field, const Input& json) {
  if (!json.is_number()) return false;
  field = json.get<double>();
  return std::isfinite(field);
}

bool assign(std::optional<double>& field, const Input& json) {
  field.reset();
  return json.is_null() || assign(field.emplace(), json);
}

bool assign(std::vector<double>& field, const Input& json) {
  if (json.is_number()) {
    field.resize(1);
    return assign(field[0], json);
  }
  if (!json.is_array()) return false;
  field.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!assign(field[i], json[i])) return false;
  }
  return true;
}

template <typename Field, std::size_t N>
bool assign(const Words<Field, N>& field, const Input& json) {
  if constexpr (WordField<Field>::kOptional) {
    field.value.reset();
    if (json.is_null()) return true;
  }
  if (!json.is_string()) return false;
  const auto found = std::ranges::find(field.words, json.get<std::string>());
  if (found == field.words.end()) return false;
  field.value = static_cast<typename WordField<Field>::Enum>(found - field.words.begin());
  return true;
}

// ---- what a field wants ----

std::string wanted(const std::string&) { return "text"; }
std::string wanted(bool) { return "true or false"; }
std::string wanted(std::integral auto) { return "a whole number"; }
std::string wanted(double) { return "a finite number"; }
std::string wanted(const std::optional<double>&) { return "a finite number or null"; }
std::string wanted(const std::vector<double>&) { return "a list of finite numbers"; }
template <typename Field, std::size_t N>
std::string wanted(const Words<Field, N>& field) {
  return "one of " + listed(field, ", ") + (WordField<Field>::kOptional ? " or null" : "");
}

// ---- how help texts show a value ----

std::string form_of(const std::string&) { return "TEXT"; }
std::string form_of(bool) { return "true|false"; }
std::string form_of(std::integral auto) { return "N"; }
std::string form_of(double) { return "X"; }
std::string form_of(const std::optional<double>&) { return "X"; }
std::string form_of(const std::vector<double>&) { return "X,X,…"; }
template <typename Field, std::size_t N>
std::string form_of(const Words<Field, N>& field) {
  return listed(field, "|");
}

/// Sets a field of that name; `shown` is the value in error texts.
void assign_field(Recipe& recipe, std::string_view name, const Input& value,
                  std::string_view shown) {
  bool found = false;
  for_each_field(recipe, [&](std::string_view field_name, auto&& field, std::string_view) {
    if (field_name != name) return;
    found = true;
    if (!assign(field, value)) {
      fail_argument(fmt::format("{} must be {}, got {}", name, wanted(field), shown));
    }
  });
  if (!found) fail_argument(fmt::format("recipes have no field \"{}\"", name));
}

/// Text with the digits that JSON wants on both sides of a point.
std::string with_zeros(std::string_view text) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::string full;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && !is_digit(i - 1) && is_digit(i + 1)) full += '0';
    full += text[i];
    if (text[i] == '.' && is_digit(i - 1) && !is_digit(i + 1)) full += '0';
  }
  return full;
}

/// Text from the command line as the JSON value that it most likely means.
Input guess(std::string_view text) {
  try {
    Input list = parse_json("[" + with_zeros(text) + "]", "the value", JsonError::argument);
    return list.size() == 1 ? Input(std::move(list[0])) : list;
  } catch (const InvalidArgument&) {
    return std::string(text);
  }
}

}  // namespace

Recipe::Recipe() {
  mix.method = "none";
  mix.mode = Mode::batch;
}

std::int32_t usual_test_resize(std::int32_t image_size) noexcept {
  return static_cast<std::int32_t>((std::int64_t{image_size} * 16 + 7) / 14);  // to the nearest
}

void check_recipe(const Recipe& r) {
  require_between("epochs", static_cast<double>(r.epochs), 1, 1e6);
  require_between("batch", static_cast<double>(r.batch), 1, 1e6);
  require_between("eval_every", static_cast<double>(r.eval_every), 1, 1e6);
  require_between("accumulate", static_cast<double>(r.accumulate), 1, 1e6);
  require_positive("lr", r.lr);
  require_between("momentum", r.momentum, 0, 1);
  require_between("beta2", r.beta2, 0, 1);
  if (r.optimiser == Optimiser::adamw && !(std::max(r.momentum, r.beta2) < 1)) {
    fail_argument(
        fmt::format("momentum and beta2 of adamw must be < 1, got {} and {}", r.momentum, r.beta2));
  }
  require_between("weight_decay", r.weight_decay, 0, 1);
  require_between("lr_factor", r.lr_factor, 0, 1);
  require_between("lr_final", r.lr_final, 0, 1);
  require_between("warmup_epochs", r.warmup_epochs, 0, static_cast<double>(r.epochs));
  for (const double share : r.milestones) require_between("milestones", share, 0, 1);
  require_between("smoothing", r.smoothing, 0, 0.999);
  require_between("clip_norm", r.clip_norm, 0, 1e30);
  require_between("ema", r.ema, 0, 0.999999);
  require_between("pad", static_cast<double>(r.pad), 0, 1024);
  require_between("flip", r.flip, 0, 1);
  require_between("image_size", r.image_size, 8, 4096);
  require_between("crop_area", r.crop_area, 0.0001, 1);
  require_between("crop_aspect", r.crop_aspect, 1, 100);
  require_between("test_resize", r.test_resize, r.image_size, 8192);
  if (r.mean.empty() || r.mean.size() != r.stddev.size()) {
    fail_argument(fmt::format("mean and stddev must have as many numbers, got {} and {}",
                              r.mean.size(), r.stddev.size()));
  }
  for (const double s : r.stddev) require_positive("stddev", s);
  (void)Sampler(policy_of(r), {32, 32}, 0);  // checks the policy
}

std::string to_json(const Recipe& recipe) {
  Json json = {{"schema", kSchema}, {"draws", recipe.draws}};
  for_each_field(recipe, [&](std::string_view name, const auto& field, std::string_view) {
    json[std::string(name)] = json_of(field);
  });
  return json.dump(2) + "\n";
}

namespace {

/// draws: the version of a recipe that does not say.
Recipe read_recipe(std::string_view text, std::string_view name, std::int32_t draws) {
  const Input json = parse_json(text, name, JsonError::argument);
  if (!json.is_object()) fail_argument(fmt::format("{} is not a JSON object", name));
  if (!json.contains("schema") || json["schema"] != kSchema) {
    fail_argument(fmt::format("{} must have the schema \"{}\"", name, kSchema));
  }
  Recipe recipe;
  recipe.draws = draws;
  for (const auto& [key, value] : json.items()) {
    if (key == "schema") continue;
    if (key != "draws") {
      try {
        assign_field(recipe, key, value, value.dump());
      } catch (const InvalidArgument& problem) {
        fail_argument(fmt::format("{}: {}", name, problem.what()));
      }
    } else if (!assign(recipe.draws, value) || recipe.draws < 1) {
      fail_argument(
          fmt::format("{}: draws must be a whole number >= 1, got {}", name, value.dump()));
    }
  }
  if (!json.contains("test_resize")) recipe.test_resize = usual_test_resize(recipe.image_size);
  return recipe;
}

}  // namespace

Recipe recipe_from_json(std::string_view text, std::string_view name) {
  return read_recipe(text, name, kDrawsVersion);
}

Recipe recorded_recipe(std::string_view text, std::string_view name) {
  return read_recipe(text, name, kFirstDrawsVersion);
}

Recipe read_recorded_recipe(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> text = read_file(file);
  return recorded_recipe({reinterpret_cast<const char*>(text.data()), text.size()}, file.string());
}

void set_field(Recipe& recipe, std::string_view field, std::string_view value) {
  // Names may look like numbers.
  const bool text = field == "name" || field == "model" || field == "method";
  assign_field(recipe, field, text ? Input(value) : guess(value), fmt::format("\"{}\"", value));
}

const std::vector<RecipeField>& recipe_fields() {
  static const std::vector<RecipeField> fields = [] {
    std::vector<RecipeField> all;
    const Recipe recipe;
    for_each_field(recipe, [&](std::string_view name, const auto& field, std::string_view help) {
      all.push_back({name, help, form_of(field)});
    });
    return all;
  }();
  return fields;
}

std::vector<std::string_view> recipe_names() {
  std::vector<std::string_view> names;
  for (const BuiltinRecipe& recipe : kBuiltinRecipes) names.push_back(recipe.name);
  return names;
}

Recipe find_recipe(const std::string& name_or_file) {
  for (const BuiltinRecipe& recipe : kBuiltinRecipes) {
    if (recipe.name == name_or_file) return recipe_from_json(recipe.text, recipe.name);
  }
  if (!std::filesystem::exists(name_or_file) || std::filesystem::is_directory(name_or_file)) {
    std::string known;
    for (const std::string_view name : recipe_names()) known.append(" ").append(name);
    fail_argument(
        fmt::format("there is no recipe and no file \"{}\"; recipes are{}", name_or_file, known));
  }
  const std::vector<std::uint8_t> text = read_file(name_or_file);
  return recipe_from_json({reinterpret_cast<const char*>(text.data()), text.size()}, name_or_file);
}

double learning_rate(const Recipe& r, std::int64_t step, std::int64_t steps_per_epoch) {
  const auto total = static_cast<double>(r.epochs * steps_per_epoch);
  const double warmup = r.warmup_epochs * static_cast<double>(steps_per_epoch);
  const auto at = static_cast<double>(step);
  if (at < warmup) return r.lr * (at + 1) / (warmup + 1);
  const double rest = total - warmup;
  const auto cosine = [&](double share) {
    return 0.5 * (1 + std::cos(3.14159265358979323846 * share));
  };
  const auto between = [&](double high) { return r.lr * (r.lr_final + (1 - r.lr_final) * high); };
  switch (r.schedule) {
    case Schedule::constant:
      return r.lr;
    case Schedule::cosine:
      return between(cosine((at - warmup) / rest));
    case Schedule::one_cycle: {
      constexpr double kPeak = 0.3;
      const double share = (at - warmup + 0.5) / rest;
      return share < kPeak ? r.lr * std::max(share / kPeak, 0.04)
                           : between(cosine((share - kPeak) / (1 - kPeak)));
    }
    case Schedule::step: {
      // Rounded to whole epochs, so that a third of 300 is 100.
      const std::int64_t epoch = step / steps_per_epoch;
      double lr = r.lr;
      for (const double share : r.milestones) {
        if (epoch >= std::llround(share * static_cast<double>(r.epochs))) lr *= r.lr_factor;
      }
      return lr;
    }
  }
  return r.lr;
}

MixPolicy policy_of(const Recipe& recipe) {
  MixPolicy policy = recipe.mix;
  policy.augment = {static_cast<std::int32_t>(recipe.pad), recipe.flip};
  return policy;
}

std::string_view name_of(Optimiser value) noexcept { return word_of(kOptimisers, value); }
std::string_view name_of(Schedule value) noexcept { return word_of(kSchedules, value); }
std::string_view name_of(Loss value) noexcept { return word_of(kLosses, value); }

}  // namespace medley
