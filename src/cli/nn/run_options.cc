#include "cli/nn/run_options.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "medley/error.h"
#include "medley/nn/models.h"
#include "medley/policy.h"

namespace medley::cli {
namespace {

constexpr std::array<std::string_view, 3> kDevices = {"auto", "cpu", "cuda"};
constexpr std::array<std::string_view, 3> kTableFormats = {"text", "csv", "markdown"};

std::string option_of(std::string_view field) {
  std::string name = "--" + std::string(field);
  std::ranges::replace(name, '_', '-');
  return name;
}

void keep_first(ImageSet& images, std::optional<std::int64_t> count, std::string_view option,
                const std::vector<std::string>& classes) {
  if (!count) return;
  try {
    images = first_of_each_class(images, *count, classes);
  } catch (const InvalidArgument& problem) {
    throw InvalidArgument(fmt::format("{}: {}", option, problem.what()));
  }
}

}  // namespace

void DataOptions::add_to(CLI::App& app) {
  app.add_option("--data", data,
                 "synthetic[:train=2000,test=500,size=32,classes=10,scale=0.5,seed=1], "
                 "fashion-mnist[:DIR], cifar100:DIR, cifar10:DIR, idx:DIR, npy:DIR or folder:DIR")
      ->default_str(data)
      ->group("Data");
  add_integer(app, "--train-images", train_images,
              "the first N training images, as many of each class", "all")
      ->group("Data");
  add_integer(app, "--test-images", test_images, "the first N test images, as many of each class",
              "all")
      ->group("Data");
  app.add_flag("--skip-broken", skip_broken, "folders: leave out images that cannot be decoded")
      ->group("Data");
  add_integer(app, "--threads", threads, "threads, 0 for all cores")->group("Machine");
  add_word(
      app, "--device", kDevices, 0, [this](std::size_t i) { device_word = kDevices.at(i); },
      "where networks run; auto is a GPU if there is one")
      ->group("Machine");
}

ImageData DataOptions::open() const {
  ImageData images = open_data(data, broken());
  keep_first(images.train, train_images, "--train-images", images.classes);
  keep_first(images.test, test_images, "--test-images", images.classes);
  return images;
}

DataChoice DataOptions::choice() const {
  const std::size_t colon = data.find(':');
  const bool has_folder = name() != "synthetic" && colon != std::string::npos;
  const std::string rest = has_folder ? data.substr(colon + 1) : "";
  const bool of_home = rest == "~" || rest.starts_with("~/");
  const std::string source =
      has_folder && !of_home
          ? fmt::format("{}:{}", name(), std::filesystem::absolute(rest).string())
          : data;
  return {source, train_images, test_images, skip_broken};
}

ImageData DataOptions::open_test() const {
  ImageData images = open_data(data, broken(), Parts::test);
  keep_first(images.test, test_images, "--test-images", images.classes);
  return images;
}

void DataOptions::note_left_out(const ImageData& images, bool quiet) {
  std::int64_t broken = 0;
  std::int64_t all = 0;
  for (const ImageSet* set : {&images.train, &images.test}) {
    if (!set->files) continue;
    for (const std::string& note : set->files->new_notes()) print_note(note, quiet);
    broken += set->files->broken_count();
    all += set->files->count();
  }
  if (broken > 0) {
    print_note(fmt::format("{} of {} images could not be decoded and were left out", broken, all),
               quiet);
  }
}

nn::Device DataOptions::device() const {
  const bool gpu = device_word != "cpu" && nn::is_available(nn::Device::cuda);
  if (device_word == "cuda" && !gpu) {
    throw CudaError(
        "--device cuda needs a build with CUDA and a GPU, and one of them is missing; use "
        "--device cpu");
  }
  return gpu ? nn::Device::cuda : nn::Device::cpu;
}

void EngineOptions::add_to(CLI::App& app) {
  add_word(
      app, "--precision", nn::kPrecisionNames, 0,
      [this](std::size_t i) { precision = static_cast<nn::Precision>(i); },
      "of convolutions on a GPU; a CPU has f32")
      ->group("Machine");
  app.add_flag("--no-graph", no_graph, "GPU: launch every kernel of every step")->group("Machine");
  app.add_flag("--deterministic", deterministic,
               "GPU: the same bits every time, with slower algorithms")
      ->group("Machine");
  app.add_flag("--profile", profile, "say after the first epoch where the time of a step goes")
      ->group("Machine");
}

void EngineOptions::apply_to(nn::TrainOptions& options) const {
  options.precision = precision;
  options.graph = !no_graph;
  options.deterministic = deterministic;
  options.profile = profile;
}

void RecipeOptions::add_to(CLI::App& app, std::string_view without) {
  app_ = &app;
  std::string names;
  for (const std::string_view name : recipe_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  app.add_option("--recipe", name_,
                 fmt::format("{} or a JSON file; options below change it", names))
      ->default_str(name_)
      ->group("Recipe");
  for (const RecipeField& field : recipe_fields()) {
    if (field.name == "name" || field.name == without) continue;
    std::string help(field.help);
    if (field.name == "model") help += fmt::format(": {}", fmt::join(nn::model_names(), ", "));
    app.add_option(option_of(field.name), fields_[std::string(field.name)], help)
        ->type_name(field.form)
        ->group("Recipe");
  }
}

void RecipeOptions::start_from(const std::filesystem::path& file) {
  if (given("recipe")) return;
  name_ = file.string();
  of_run_ = true;
}

Recipe RecipeOptions::recipe() const {
  Recipe recipe = find_recipe(name_);
  if (of_run_) recipe.draws = kDrawsVersion;  // the trainer compares them with those of the run
  const std::int64_t epochs = recipe.epochs;
  for (const auto& [field, value] : fields_) {
    if (given(field)) set_field(recipe, field, value);
  }
  if (!given("eval_every") && recipe.epochs > 0) {  // as many scores as the recipe has
    const double share = static_cast<double>(recipe.epochs) / static_cast<double>(epochs);
    recipe.eval_every = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(share * static_cast<double>(recipe.eval_every)));
  }
  if (chooses_test_resize()) recipe.test_resize = usual_test_resize(recipe.image_size);
  return recipe;
}

bool RecipeOptions::chooses_test_resize() const {
  return given("image_size") && !given("test_resize") && !of_run_;
}

void RecipeOptions::note_test_resize(const Recipe& recipe, const DataOptions& data,
                                     bool quiet) const {
  if (!chooses_test_resize() || data.name() != "folder") return;
  print_note(fmt::format("test pictures are resized to {}, 8/7 of --image-size, before the crop; "
                         "--test-resize says otherwise",
                         recipe.test_resize),
             quiet);
}

bool RecipeOptions::given(std::string_view field) const {
  return app_->count(option_of(field)) > 0;
}

void RecipeOptions::note_unused(const std::vector<std::string>& chosen, bool quiet) const {
  for (const auto& entry : fields_) {
    const std::string& field = entry.first;
    const auto uses = [&](const MethodInfo* method) { return method->uses(field); };
    const auto is_used = [&](const std::string& name) { return get_method(name).uses(field); };
    if (!given(field) || std::ranges::none_of(methods(), uses)) continue;  // not of methods
    if (std::ranges::any_of(chosen, is_used)) continue;
    print_note(
        fmt::format("{} is not used by method {}", option_of(field), fmt::join(chosen, ", ")),
        quiet);
  }
  const auto is_given = [&](std::string_view field) {
    return fields_.contains(std::string(field)) && given(field);
  };
  note_overridden(chosen, is_given, quiet);
}

void add_table_format(CLI::App& app, TableFormat& format) {
  add_choice(app, "--format", kTableFormats, format, "of the table")->group("Output");
}

void CheckpointOptions::add_to(CLI::App& app) {
  add_integer(app, "--checkpoint-epochs", epochs, "a checkpoint after so many epochs")
      ->group("Checkpoints");
  add_real(app, "--checkpoint-minutes", minutes, "and after so many minutes")->group("Checkpoints");
  app.add_flag("--resume", resume, "go on with the run of --out, which says all of it")
      ->group("Checkpoints");
  app.add_flag("--overwrite", overwrite, "replace what the folder holds")->group("Checkpoints");
}

RunFolder::Existing CheckpointOptions::existing() const {
  if (resume && overwrite) throw InvalidArgument("--resume and --overwrite exclude each other");
  return resume      ? RunFolder::Existing::resume
         : overwrite ? RunFolder::Existing::overwrite
                     : RunFolder::Existing::refuse;
}

}  // namespace medley::cli
