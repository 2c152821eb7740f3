#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "medley/options.h"
#include "medley/plan.h"
#include "medley/policy.h"

namespace medley::train {

/// What updates the weights.
enum class Optimizer : std::uint8_t { sgd, adamw };
/// Their names.
inline constexpr std::array<std::string_view, 2> kOptimizers = {"sgd", "adamw"};

/// `step`: times `lr_factor` at each milestone; `cosine`: to `lr_final` of the start; `one_cycle`:
/// up to lr in the first 30 %, then down to `lr_final` of it; `constant`. All after the warm-up.
enum class Schedule : std::uint8_t { constant, step, cosine, one_cycle };
/// Their names.
inline constexpr std::array<std::string_view, 4> kSchedules = {"constant", "step", "cosine",
                                                               "one-cycle"};

/// Cross entropy; or binary cross entropy of the softmax, averaged over batch and classes, which
/// the published CIFAR results were trained with.
enum class Loss : std::uint8_t { cross_entropy, bce_softmax };
/// Their names.
inline constexpr std::array<std::string_view, 2> kLosses = {"cross-entropy", "bce-softmax"};

/// The names of an enumeration's values, in order: what makes it a NamedEnum.
// clang-format off
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Optimizer) noexcept { return kOptimizers; }
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Schedule) noexcept { return kSchedules; }
[[nodiscard]] constexpr std::span<const std::string_view> enum_names(Loss) noexcept { return kLosses; }
// clang-format on

/// Shares of an image that random crops take; as an option two numbers, or the least one alone.
struct CropArea {
  double least = 0.08;
  double most = 1;

  // NOLINTNEXTLINE(google-explicit-constructor): how it is an option.
  operator std::vector<double>() const { return {least, most}; }
};

}  // namespace medley::train

namespace medley {

/// How a crop area is an option.
template <>
struct OptionTraits<train::CropArea> {
  static constexpr OptionType kType = OptionType::numbers;
  static train::CropArea from(const OptionValue& value);
};

}  // namespace medley

namespace medley::train {

/// Values of options by name.
using OptionValues = std::map<std::string, OptionValue, std::less<>>;

/// Values that options of methods have once a method is chosen.
struct MethodValues {
  OptionValues all = {};                                     ///< of every method with the option
  std::map<std::string, OptionValues, std::less<>> of = {};  ///< of one, before those of all
};

/// The files that the value of an option is read from.
struct OptionFiles {
  std::vector<std::string> paths = {};
  std::string hash = {};  ///< of what they must hold; empty: of anything
};

/// How a network is trained. Every field has a name in recipe files, on the command line (with
/// `-` for `_`) and in the run's recipe.json. There the options of the mixing method stand beside
/// them.
struct Recipe {
  /// Whose draws make its batches. Not a field to set: a run has those of the program that began
  /// it.
  std::int32_t draws = kDrawsVersion;

  std::string name = "custom";
  std::string model = "resnet8";
  std::int64_t epochs = 10;
  std::int64_t batch = 100;
  std::int64_t eval_every = 1;  ///< epochs between scores; the last has one in any case

  Optimizer optimizer = Optimizer::sgd;
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
  std::int64_t accumulate = 1;  ///< batches per optimizer step
  double ema = 0;               ///< decay per step of averaged weights, 0: none

  std::int32_t pad = 0;  ///< random crop
  // Of images in files, which have any size:
  std::int32_t image_size = 224;   ///< side of the square that the network sees
  CropArea crop_area = {};         ///< shares of an image in a random crop
  double crop_aspect = 4.0 / 3;    ///< greatest ratio of the sides of a random crop
  std::int32_t test_resize = 256;  ///< shorter side of test images before the crop in the middle
  bool exif = false;               ///< turned as their Exif orientation says
  double flip = 0.5;
  std::vector<double> mean = {0.5, 0.5, 0.5};  ///< of values in [0, 1]; one number serves all
  std::vector<double> std = {0.25, 0.25, 0.25};

  MixPolicy mix;  ///< its crop and flip are `pad` and `flip`

  /// What `choose_method` gives to the options of a method.
  MethodValues values = {};
  /// Of options whose values are read from files, by name.
  std::map<std::string, OptionFiles, std::less<>> files = {};

  /// The defaults, without mixing.
  Recipe();
};

/// The fields, then what is common to all methods.
[[nodiscard]] const std::vector<OptionSpec>& recipe_options();

/// Makes the recipe mix by the method of that name, whose options get the values that the recipe
/// has for them. Throws InvalidArgument.
void choose_method(Recipe& recipe, std::string_view method);

/// Sets a field, or an option of methods, from text, as given on the command line; options of the
/// method that is chosen now, or will be. Throws InvalidArgument.
void set_field(Recipe& recipe, std::string_view field, std::string_view value);

/// Reads the value of an option from files.
using ReadOption =
    std::function<OptionValue(const OptionSpec& option, const std::vector<std::string>& paths)>;

/// Reads what the recipe has in files. Throws InvalidArgument if that is not what the recipe says
/// by its hash, and what `read` throws.
void read_files(Recipe& recipe, const ReadOption& read);

/// What `test_resize` is where nothing else is said: 8/7 of the image size, such as 256 for 224.
[[nodiscard]] std::int32_t usual_test_resize(std::int32_t image_size) noexcept;

/// Throws InvalidArgument with the first field that cannot work.
void check_recipe(const Recipe& recipe);

/// One flat object with the schema "medley.recipe/1": the fields and the options of the method.
/// Where these are in files, their paths and a hash of the content.
[[nodiscard]] std::string to_json(const Recipe& recipe);

/// Reads a recipe; fields that it does not name keep their defaults (test_resize: the usual one of
/// its image_size), unknown ones are refused. Options of other methods than its own are kept for
/// when they are chosen. One without a version of draws is of this program's. Files are not read.
/// Throws InvalidArgument with `name` and the reason.
[[nodiscard]] Recipe recipe_from_json(std::string_view text, std::string_view name);

/// Reads a recipe as a run wrote it: one without a version of draws is of the first.
[[nodiscard]] Recipe recorded_recipe(std::string_view text, std::string_view name);
/// The same from the recipe.json of a run. Throws IoError too.
[[nodiscard]] Recipe read_recorded_recipe(const std::filesystem::path& file);

/// A field that differs, with its values as JSON.
struct RecipeDifference {
  std::string field;
  std::string a;
  std::string b;
};

/// Fields and options by which two recipes train otherwise. Draws are not compared, files by their
/// content, and of methods that differ only the options that both have.
[[nodiscard]] std::vector<RecipeDifference> differences(const Recipe& a, const Recipe& b);

/// Names of the recipes that are built in.
[[nodiscard]] std::vector<std::string_view> recipe_names();

/// A recipe that is built in, or one from a file. Throws InvalidArgument, IoError.
[[nodiscard]] Recipe find_recipe(const std::string& name_or_file);

/// Learning rate of a step, 0 <= step < epochs * steps_per_epoch.
[[nodiscard]] double learning_rate(const Recipe& recipe, std::int64_t step,
                                   std::int64_t steps_per_epoch);

/// The mixing policy with crop and flip filled in. Throws InvalidArgument if it needs files that
/// were not read.
[[nodiscard]] MixPolicy policy_of(const Recipe& recipe);

}  // namespace medley::train
