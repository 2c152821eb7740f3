#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "medley/plan.h"
#include "medley/policy.h"

namespace medley {

enum class Optimiser : std::uint8_t { sgd, adamw };
/// `step`: times `lr_factor` at each milestone; `cosine`: to `lr_final` of the start; `one_cycle`:
/// up to lr in the first 30 %, then down to `lr_final` of it; `constant`. All after the warm-up.
enum class Schedule : std::uint8_t { constant, step, cosine, one_cycle };
/// Cross entropy; or binary cross entropy of the softmax, averaged over batch and classes, which
/// the published CIFAR results were trained with.
enum class Loss : std::uint8_t { cross_entropy, bce_softmax };

/// How a network is trained. Every field has a name in recipe files, on the command line (with
/// `-` for `_`) and in the run's recipe.json.
struct Recipe {
  /// Whose draws make its batches. Not a field to set: a run has those of the program that began
  /// it.
  std::int32_t draws = kDrawsVersion;

  std::string name = "custom";
  std::string model = "resnet8";
  std::int64_t epochs = 10;
  std::int64_t batch = 100;
  std::int64_t eval_every = 1;  ///< epochs between scores; the last has one in any case

  Optimiser optimiser = Optimiser::sgd;
  double lr = 0.1;
  double momentum = 0.9;  ///< sgd; beta1 of adamw
  bool nesterov = true;
  double beta2 = 0.999;  ///< adamw
  double weight_decay = 1e-4;
  Schedule schedule = Schedule::cosine;
  std::vector<double> milestones = {1.0 / 3, 2.0 / 3};  ///< shares of the epochs
  double lr_factor = 0.1;
  double lr_final = 0;
  double warmup_epochs = 0;

  Loss loss = Loss::cross_entropy;
  double smoothing = 0;
  double clip_norm = 0;         ///< 0: gradients are not clipped
  std::int64_t accumulate = 1;  ///< batches per optimiser step
  double ema = 0;               ///< decay per step of averaged weights, 0: none

  std::int64_t pad = 0;  ///< random crop
  // Of images in files, which have any size:
  std::int32_t image_size = 224;   ///< side of the square that the network sees
  double crop_area = 0.08;         ///< least share of a picture in a random crop
  double crop_aspect = 4.0 / 3;    ///< greatest ratio of the sides of a random crop
  std::int32_t test_resize = 256;  ///< shorter side of test pictures before the crop in the middle
  bool exif = false;               ///< turned as their Exif orientation says
  double flip = 0.5;
  std::vector<double> mean = {0.5, 0.5, 0.5};  ///< of values in [0, 1]; one number serves all
  std::vector<double> stddev = {0.25, 0.25, 0.25};

  MixPolicy mix;  ///< its crop and flip are `pad` and `flip`

  Recipe();
};

/// What `test_resize` is where nothing else is said: 8/7 of the image size, such as 256 for 224.
[[nodiscard]] std::int32_t usual_test_resize(std::int32_t image_size) noexcept;

/// Throws InvalidArgument with the first field that cannot work.
void check_recipe(const Recipe& recipe);

/// One flat object with the schema "medley.recipe/1".
[[nodiscard]] std::string to_json(const Recipe& recipe);

/// Reads a recipe; fields that it does not name keep their defaults (test_resize: the usual one of
/// its image_size), unknown ones are refused. One without a version of draws is of this program's.
/// Throws InvalidArgument with `name` and the reason.
[[nodiscard]] Recipe recipe_from_json(std::string_view text, std::string_view name);

/// Reads a recipe as a run wrote it: one without a version of draws is of the first.
[[nodiscard]] Recipe recorded_recipe(std::string_view text, std::string_view name);
/// The same from the recipe.json of a run. Throws IoError too.
[[nodiscard]] Recipe read_recorded_recipe(const std::filesystem::path& file);

/// Sets one field from text, as given on the command line. Throws InvalidArgument.
void set_field(Recipe& recipe, std::string_view field, std::string_view value);

/// Names of all fields, with what they mean.
struct RecipeField {
  std::string_view name;
  std::string_view help;
  std::string form;  ///< "N", "X", "X,X,…", "true|false", "a|b|c" or "TEXT"
};
[[nodiscard]] const std::vector<RecipeField>& recipe_fields();

/// Names of the recipes that are built in.
[[nodiscard]] std::vector<std::string_view> recipe_names();

/// A recipe that is built in, or one from a file. Throws InvalidArgument, IoError.
[[nodiscard]] Recipe find_recipe(const std::string& name_or_file);

/// Learning rate of a step, 0 <= step < epochs * steps_per_epoch.
[[nodiscard]] double learning_rate(const Recipe& recipe, std::int64_t step,
                                   std::int64_t steps_per_epoch);

/// The mixing policy with crop and flip filled in.
[[nodiscard]] MixPolicy policy_of(const Recipe& recipe);

[[nodiscard]] std::string_view name_of(Optimiser value) noexcept;
[[nodiscard]] std::string_view name_of(Schedule value) noexcept;
[[nodiscard]] std::string_view name_of(Loss value) noexcept;

}  // namespace medley
