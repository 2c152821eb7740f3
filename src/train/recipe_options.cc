#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/nearest_word.h"
#include "data/content_hash.h"
#include "data/file.h"
#include "medley/gaussian_design.h"
#include "medley/train/recipe.h"
#include "plan/check_policy.h"
#include "train/recipe_values.h"

namespace medley::train {
namespace {

constexpr double kMostSteps = 1e6;

std::vector<OptionSpec> fields() {
  return OptionTable<Recipe>()
      .add(&Recipe::name, "name", "what the recipe is called")
      .add(&Recipe::model, "model", "network")
      .add(&Recipe::epochs, "epochs", "passes over the training set",
           {.range = between(1, kMostSteps)})
      .add(&Recipe::batch, "batch", "images per step", {.range = between(1, kMostSteps)})
      .add(&Recipe::eval_every, "eval_every", "epochs between scores; the last is always scored",
           {.range = between(1, kMostSteps)})
      .add(&Recipe::optimizer, "optimizer", "how parameters follow gradients")
      .add(&Recipe::lr, "lr", "learning rate", {.range = above(0)})
      .add(&Recipe::momentum, "momentum", "of sgd; beta1 of adamw", {.range = between(0, 1)})
      .add(&Recipe::nesterov, "nesterov", "sgd: look ahead")
      .add(&Recipe::beta2, "beta2", "adamw", {.range = between(0, 1)})
      .add(&Recipe::weight_decay, "weight_decay", "on all parameters", {.range = between(0, 1)})
      .add(&Recipe::schedule, "schedule", "of the learning rate")
      .add(&Recipe::milestones, "milestones", "step: shares of the epochs, such as 0.5,0.75",
           {.range = between(0, 1)})
      .add(&Recipe::lr_factor, "lr_factor", "step: factor at a milestone", {.range = between(0, 1)})
      .add(&Recipe::lr_final, "lr_final", "cosine, one-cycle: share of lr at the end",
           {.range = between(0, 1)})
      .add(&Recipe::warmup_epochs, "warmup_epochs", "lr grows linearly for so long",
           {.range = at_least(0)})
      .add(&Recipe::loss, "loss", "bce-softmax: binary cross entropy of the softmax")
      .add(&Recipe::smoothing, "smoothing", "label smoothing", {.range = between(0, 0.999)})
      .add(&Recipe::clip_norm, "clip_norm", "greatest norm of the gradient, 0 for any",
           {.range = at_least(0)})
      .add(&Recipe::accumulate, "accumulate", "batches per optimizer step",
           {.range = between(1, kMostSteps)})
      .add(&Recipe::ema, "ema", "decay of averaged weights per step, 0 for none",
           {.range = between(0, 0.999999)})
      .add(&Recipe::pad, "pad", "random crop from an image padded by so many pixels",
           {.range = between(0, 1024)})
      .add(&Recipe::image_size, "image_size", "folders: side of the images that the network sees",
           {.range = between(8, 4096)})
      .add(&Recipe::crop_area, "crop_area",
           "folders: least and greatest share of an image in a random crop; one number is the "
           "least",
           {.range = between(0.0001, 1)})
      .add(&Recipe::crop_aspect, "crop_aspect",
           "folders: greatest ratio of the sides of a random crop", {.range = between(1, 100)})
      .add(&Recipe::test_resize, "test_resize",
           "folders: shorter side of test images before the crop; 8/7 of image_size unless given",
           {.range = between(8, 8192)})
      .add(&Recipe::exif, "exif", "folders: turn images as their Exif orientation says")
      .add(&Recipe::flip, "flip", "chance of mirroring", {.range = between(0, 1)})
      .add(&Recipe::mean, "mean", "of a channel, for values in [0, 1]")
      .add(&Recipe::std, "std", "standard deviation of a channel, for values in [0, 1]",
           {.range = above(0)});
}

OptionSpec method_option() {
  OptionSpec spec;
  spec.name = "method";
  spec.type = OptionType::text;
  spec.help = "how to mix";
  spec.get = [](const void* recipe) {
    return OptionValue(static_cast<const Recipe*>(recipe)->mix.method.name());
  };
  spec.set = [](void* recipe, const OptionValue& value) {
    choose_method(*static_cast<Recipe*>(recipe), value.as<std::string>());
  };
  const Recipe defaults;
  spec.default_value = spec.get(&defaults);
  return spec;
}

std::vector<OptionSpec> make_options() {
  std::vector<OptionSpec> options = fields();
  // Recipes crop and flip unmixed images, too, so `pad` and `flip` are fields of their own, which
  // `policy_of` hands to the policy; what else all methods have follows.
  std::vector<OptionSpec> of_policy = policy_options();
  std::erase_if(of_policy, [&](const OptionSpec& option) {
    return find_option(options, option.name) != nullptr;
  });
  options.push_back(method_option());
  std::vector<OptionSpec> mixing = OptionTable<Recipe>().with(&Recipe::mix, std::move(of_policy));
  for (OptionSpec& option : mixing) options.push_back(std::move(option));
  return options;
}

/// Whether the method has the option, and its value is to be read from files that were not.
bool is_unread(const Recipe& recipe, const std::string& option) {
  const Method& method = recipe.mix.method;
  return method.uses(option) && method.get(option).empty();
}

/// The size of the images that its masks are for, if these are given.
std::optional<ImageSize> size_of_masks(const Method& method) {
  for (const OptionSpec& option : method.info().options) {
    if (!is_file(option) || method.get(option.name).empty()) continue;
    const OptionValue value = method.get(option.name);
    return option.type == OptionType::masks
               ? value.as<std::shared_ptr<const MaskSet>>()->size
               : value.as<std::shared_ptr<const GaussianDesign>>()->size();
  }
  return std::nullopt;
}

}  // namespace

}  // namespace medley::train

namespace medley {

train::CropArea OptionTraits<train::CropArea>::from(const OptionValue& value) {
  const auto& shares = value.as<std::vector<double>>();
  if (shares.size() == 1) return {.least = shares[0]};
  if (shares.size() != 2) {
    fail_argument(fmt::format("crop_area must be one number or two, got {}", shares.size()));
  }
  return {shares[0], shares[1]};
}

}  // namespace medley

namespace medley::train {

Recipe::Recipe() {
  mix.method = "none";
  mix.mode = Mode::batch;
}

std::int32_t usual_test_resize(std::int32_t image_size) noexcept {
  return static_cast<std::int32_t>((std::int64_t{image_size} * 16 + 7) / 14);  // to the nearest
}

const std::vector<OptionSpec>& recipe_options() {
  static const std::vector<OptionSpec> options = make_options();
  return options;
}

void choose_method(Recipe& recipe, std::string_view name) {
  Method method(name);
  for (const auto& [option, value] : recipe.values.all) method.set_if_used(option, value);
  const auto of_method = recipe.values.of.find(name);
  if (of_method != recipe.values.of.end()) {
    for (const auto& [option, value] : of_method->second) method.set(option, value);
  }
  recipe.mix.method = std::move(method);
}

bool is_file(const OptionSpec& option) {
  return option.type == OptionType::masks || option.type == OptionType::design;
}

std::vector<const MethodInfo*> methods_with(const Recipe& recipe, std::string_view option) {
  std::vector<const MethodInfo*> found;
  for (const MethodInfo* method : methods()) {
    if (method->uses(option)) found.push_back(method);
  }
  std::stable_partition(found.begin(), found.end(), [&](const MethodInfo* method) {
    return recipe.mix.method == method->name;
  });
  return found;
}

void keep_value(Recipe& recipe, const std::string& option, const ConvertOption& convert) {
  const std::vector<const MethodInfo*> users = methods_with(recipe, option);
  OptionValue value;
  for (const MethodInfo* user : users) {
    try {
      Method method(user->name);
      method.set(option, convert(*find_option(user->options, option)));
      value = method.get(option);
      break;
    } catch (const InvalidArgument&) {
      if (user == users.back()) throw;
    }
  }
  recipe.mix.method.set_if_used(option, value);
  recipe.values.all.insert_or_assign(option, value);
}

void fail_unknown_field(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionSpec& option : recipe_options()) names.push_back(option.name);
  for (const MethodInfo* method : methods()) {
    for (const OptionSpec& option : method->options) names.push_back(option.name);
  }
  fail_argument(
      fmt::format("recipes have no field \"{}\"{}", name.substr(0, 40), suggestion(name, names)));
}

void set_field(Recipe& recipe, std::string_view field, std::string_view text) {
  const std::string name(current_name(field));
  const auto parse = [&](const OptionSpec& option) {
    return option.optional && text == "null" ? OptionValue() : parse_option(option, text);
  };
  if (const OptionSpec* option = find_option(recipe_options(), name)) {
    set_option(*option, &recipe, parse(*option));
    return;
  }
  const std::vector<const MethodInfo*> users = methods_with(recipe, name);
  if (users.empty()) fail_unknown_field(field);
  for (auto& [method, values] : recipe.values.of) values.erase(name);
  if (is_file(*find_option(users.front()->options, name))) {
    recipe.files.insert_or_assign(name, OptionFiles{{std::string(text)}});
  } else {
    keep_value(recipe, name, parse);
  }
}

void read_files(Recipe& recipe, const ReadOption& read) {
  for (auto& [name, files] : recipe.files) {
    const std::vector<const MethodInfo*> users = methods_with(recipe, name);
    if (users.empty()) fail_unknown_field(name);
    if (files.paths.empty()) {
      fail_argument(
          fmt::format("{} must be given: the recipe does not say in which files they are", name));
    }
    std::string hashes;
    for (std::string& path : files.paths) {
      hashes += data::content_hash(data::read_file(path));
      path = std::filesystem::absolute(path).lexically_normal().string();
    }
    const std::string hash =
        files.paths.size() == 1
            ? hashes
            : data::content_hash(
                  {reinterpret_cast<const std::uint8_t*>(hashes.data()), hashes.size()});
    if (!files.hash.empty() && files.hash != hash) {
      fail_argument(
          fmt::format("{} must have hash {}, as the recipe says, got {}: {} changed since", name,
                      files.hash, hash, fmt::join(files.paths, ", ")));
    }
    files.hash = hash;
    keep_value(recipe, name,
               [&, &paths = files.paths](const OptionSpec& option) { return read(option, paths); });
  }
}

void check_recipe(const Recipe& r) {
  check_options(recipe_options(), &r);
  if (r.optimizer == Optimizer::adamw && !(std::max(r.momentum, r.beta2) < 1)) {
    fail_argument(
        fmt::format("momentum and beta2 of adamw must be < 1, got {} and {}", r.momentum, r.beta2));
  }
  require_between("warmup_epochs", r.warmup_epochs, 0, static_cast<double>(r.epochs));
  require_between("test_resize", r.test_resize, r.image_size, 8192);
  if (r.crop_area.least > r.crop_area.most) {
    fail_argument(fmt::format("crop_area must go from the least share to the greatest, got {},{}",
                              r.crop_area.least, r.crop_area.most));
  }
  if (r.mean.empty() || r.mean.size() != r.std.size()) {
    fail_argument(fmt::format("mean and std must have as many numbers, got {} and {}",
                              r.mean.size(), r.std.size()));
  }
  const Method& method = r.mix.method;
  for (const OptionSpec& option : method.info().options) {
    if (find_option(recipe_options(), option.name) != nullptr) {
      fail_argument(fmt::format(
          "method {} cannot be in a recipe: its option {} is called as a field of recipes",
          method.name(), option.name));
    }
  }
  check_policy(r.mix);
  const bool unread =
      std::ranges::any_of(r.files, [&](const auto& entry) { return is_unread(r, entry.first); });
  // Whether masks fit the images is known once there are any.
  constexpr ImageSize kSomeSize = {32, 32};
  if (!unread) (void)method.bind(size_of_masks(method).value_or(kSomeSize), r.mix.label);
}

MixPolicy policy_of(const Recipe& recipe) {
  for (const auto& [option, files] : recipe.files) {
    if (!is_unread(recipe, option)) continue;
    fail_argument(fmt::format("the files of {} were not read: call read_files first", option));
  }
  MixPolicy policy = recipe.mix;
  policy.augment = {recipe.pad, recipe.flip};
  return policy;
}

}  // namespace medley::train
