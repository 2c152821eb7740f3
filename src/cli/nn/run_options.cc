#include "cli/nn/run_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "medley/error.h"
#include "medley/nn/trainer.h"
#include "medley/policy.h"

namespace medley::cli {
namespace {

constexpr std::array<std::string_view, 3> kDevices = {"auto", "cpu", "cuda"};
constexpr std::array<std::string_view, 3> kTableFormats = {"text", "csv", "markdown"};

void keep_first(data::ImageSet& images, std::optional<std::int64_t> count, std::string_view option,
                const std::vector<std::string>& classes) {
  if (!count) return;
  try {
    images = data::first_of_each_class(images, *count, classes);
  } catch (const InvalidArgument& problem) {
    throw InvalidArgument(fmt::format("{}: {}", option, problem.what()));
  }
}

}  // namespace

void DataOptions::add_to(CLI::App& app) {
  const std::string usual = chosen.source;
  for (const OptionSpec& option : train::data_options()) {
    CLI::Option* const flag = add_option_of(app, option, chosen)->group("Data");
    if (option.name == "data") flag->default_str(usual);
  }
  add_integer(app, "--threads", threads, "threads, 0 for all cores")->group("Machine");
  add_word(
      app, "--device", kDevices, 0, [this](std::size_t i) { device_word = kDevices.at(i); },
      "where networks run; auto is a GPU if there is one")
      ->group("Machine");
}

data::ImageData DataOptions::open() const {
  data::ImageData images = data::open_data(chosen.source, broken());
  keep_first(images.train, chosen.train_images, "--train-images", images.classes);
  keep_first(images.test, chosen.test_images, "--test-images", images.classes);
  return images;
}

train::DataChoice DataOptions::choice() const {
  const std::size_t colon = chosen.source.find(':');
  if (name() == "synthetic" || colon == std::string::npos) return chosen;
  const std::string rest = chosen.source.substr(colon + 1);
  if (rest == "~" || rest.starts_with("~/")) return chosen;
  train::DataChoice choice = chosen;
  choice.source = fmt::format("{}:{}", name(), std::filesystem::absolute(rest).string());
  return choice;
}

data::ImageData DataOptions::open_test() const {
  data::ImageData images = data::open_data(chosen.source, broken(), data::Parts::test);
  keep_first(images.test, chosen.test_images, "--test-images", images.classes);
  return images;
}

void DataOptions::note_left_out(const data::ImageData& images, bool quiet) {
  std::int64_t broken = 0;
  std::int64_t all = 0;
  for (const data::ImageSet* set : {&images.train, &images.test}) {
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

void DataOptions::note_empty_classes(const data::ImageData& images, bool quiet) {
  std::vector<bool> seen(images.classes.size());
  for (const std::int64_t label : images.train.labels)
    seen.at(static_cast<std::size_t>(label)) = true;
  const auto empty = std::ranges::count(seen, false);
  if (empty == 0) return;
  print_note(fmt::format("{} of {} classes have no training image; the network has an output for "
                         "each of them",
                         empty, seen.size()),
             quiet);
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

void add_run_options(CLI::App& app, nn::TrainOptions& options, std::string_view without) {
  for (const OptionSpec& option : nn::run_options()) {
    if (option.name == without) continue;
    const bool checkpoint = option.name.starts_with("checkpoint_");
    add_option_of(app, option, options)->group(checkpoint ? "Checkpoints" : "Machine");
  }
}

void RecipeOptions::add_to(CLI::App& app, std::string_view without) {
  app_ = &app;
  std::string names;
  for (const std::string_view name : train::recipe_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  app.add_option("--recipe", name_,
                 fmt::format("{} or a JSON file; options below change it", names))
      ->default_str(name_)
      ->group("Recipe");
  for (const OptionSpec& field : train::recipe_options()) {
    if (field.name == "name" || field.name == without) continue;
    add_field(app, field)->group("Recipe");
  }
  for (const auto& [old, name] : {std::pair{"--optimiser", "optimizer"},
                                  {"--stddev", "std"},
                                  {"--learning-rate", "lr"},
                                  {"--batch-size", "batch"}}) {
    add_field(app, *find_option(train::recipe_options(), name), old)->group("");  // not in the help
  }
  methods_.add_to(app, "Options of methods");
}

CLI::Option* RecipeOptions::add_field(CLI::App& app, const OptionSpec& field, std::string flag) {
  const auto given = [this, name = field.name](const std::string& text) { fields_[name] = text; };
  if (flag.empty()) flag = flag_of(field.name);
  CLI::Option* option = nullptr;
  if (field.type == OptionType::flag) {  // recipes may have it, so that it can be taken back
    option = app.add_option_function<std::string>(
                    flag, [given](const std::string& text) { given(text.empty() ? "true" : text); },
                    field.help)
                 ->expected(0, 1)
                 ->type_name(value_syntax(field));
  } else {
    option = add_flag_of(app, field, given, flag);
  }
  if (field.name == "model") {
    option->description(fmt::format("{}: {}", field.help, fmt::join(nn::model_names(), ", ")));
  }
  return option->default_str("");  // that of the recipe
}

void RecipeOptions::start_from(const std::filesystem::path& file) {
  if (given("recipe")) return;
  name_ = file.string();
  of_run_ = true;
}

train::Recipe RecipeOptions::recipe() const {
  train::Recipe recipe = train::find_recipe(name_);
  if (of_run_) recipe.draws = kDrawsVersion;  // the trainer compares them with those of the run
  const std::int64_t epochs = recipe.epochs;
  for (const auto& [field, text] : fields_) train::set_field(recipe, field, text);
  for (const auto& [option, texts] : methods_.texts()) {
    if (texts.empty()) continue;
    train::set_field(recipe, option, texts.back());
    const auto files = recipe.files.find(option);
    if (files != recipe.files.end()) files->second.paths = texts;
  }
  train::read_files(recipe, value_of_texts);
  if (!given("eval_every") && recipe.epochs > 0) {  // as many scores as the recipe has
    const double share = static_cast<double>(recipe.epochs) / static_cast<double>(epochs);
    recipe.eval_every = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(share * static_cast<double>(recipe.eval_every)));
  }
  if (chooses_test_resize()) recipe.test_resize = train::usual_test_resize(recipe.image_size);
  return recipe;
}

bool RecipeOptions::chooses_test_resize() const {
  return given("image_size") && !given("test_resize") && !of_run_;
}

void RecipeOptions::note_test_resize(const train::Recipe& recipe, const DataOptions& data,
                                     bool quiet) const {
  if (!chooses_test_resize() || data.name() != "folder") return;
  print_note(fmt::format("test pictures are resized to {}, 8/7 of --image-size, before the crop; "
                         "--test-resize says otherwise",
                         recipe.test_resize),
             quiet);
}

bool RecipeOptions::given(std::string_view field) const {
  return fields_.contains(field) || (field == "recipe" && app_->count("--recipe") > 0);
}

void RecipeOptions::note_unused(const std::vector<std::string>& chosen, bool quiet) const {
  cli::note_unused(
      chosen, [this](std::string_view option) { return methods_.given(option); }, quiet);
}

void add_table_format(CLI::App& app, train::TableFormat& format) {
  add_choice(app, "--format", kTableFormats, format, "of the table")->group("Output");
}

void ExistingRunOptions::add_to(CLI::App& app) {
  app.add_flag("--resume", resume, "go on with the run of --out, which says all of it")
      ->group("Checkpoints");
  app.add_flag("--overwrite", overwrite, "replace what the folder holds")->group("Checkpoints");
}

train::ExistingRun ExistingRunOptions::choice() const {
  if (resume && overwrite) throw InvalidArgument("--resume and --overwrite exclude each other");
  return resume      ? train::ExistingRun::resume
         : overwrite ? train::ExistingRun::overwrite
                     : train::ExistingRun::refuse;
}

}  // namespace medley::cli
