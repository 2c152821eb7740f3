#include "medley/train/recipe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "train/builtin_recipes.h"

namespace medley::train {

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
  const std::vector<std::uint8_t> text = data::read_file(name_or_file);
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

}  // namespace medley::train
