#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/interrupt.h"
#include "cli/nn/commands.h"
#include "cli/nn/run_options.h"
#include "cli/nn/train_console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/run_program.h"
#include "medley/error.h"
#include "train/run_record.h"

namespace medley::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  medley train --data synthetic --model resnet8 --method hmix --epochs 5 --out runs/a\n"
    "  medley train --data cifar100:cifar-100-binary --recipe cifar100-paper --method gmix "
    "--out runs/b\n"
    "  medley train --data folder:imagenet --recipe imagenet-paper --skip-broken --out runs/c\n"
    "  medley train --out runs/c --resume";

struct TrainCommand {
  OutputOptions output;
  DataOptions data;
  RecipeOptions recipe;
  nn::TrainOptions options;
  ExistingRunOptions existing;
  std::uint64_t seed = 0;
  std::string out;
  std::string weights;
  const CLI::App* app = nullptr;

  [[nodiscard]] bool given(const char* option) const { return app->count(option) > 0; }
};

/// Whether nothing on the command line says what to train.
bool says_nothing(const CLI::App& app) {
  constexpr std::array<std::string_view, 8> kOthers = {
      "--out",  "--resume", "--checkpoint-epochs", "--checkpoint-minutes", "--quiet", "--no-graph",
      "--json", "--profile"};
  return std::ranges::all_of(app.get_options(), [&](const CLI::Option* option) {
    return option->count() == 0 || std::ranges::find(kOthers, option->get_name()) != kOthers.end();
  });
}

/// What the folder of a run says of it takes the place of options that were not given.
void take_from_folder(TrainCommand& command) {
  const std::filesystem::path recipe = std::filesystem::path(command.out) / "recipe.json";
  const std::optional<train::RunRecord> record = train::read_run_record(command.out);
  if (!record) {
    if (!std::filesystem::exists(recipe)) {
      if (!says_nothing(*command.app)) return;
      throw InvalidArgument(
          fmt::format("{} holds no run to go on with; to begin one, say what to train (--data, "
                      "--recipe …)",
                      command.out));
    }
    if (command.given("--data")) return;
    throw InvalidArgument(
        fmt::format("{} has a run without run.json, as older versions made them: name its data "
                    "(--data) and the other options that it was begun with",
                    command.out));
  }
  if (std::filesystem::exists(recipe)) command.recipe.start_from(recipe);
  if (!command.given("--seed")) command.seed = record->seed;
  DataOptions& data = command.data;
  if (!command.given("--data") && !record->data.source.empty())
    data.chosen.source = record->data.source;
  if (!command.given("--train-images")) data.chosen.train_images = record->data.train_images;
  if (!command.given("--test-images")) data.chosen.test_images = record->data.test_images;
  data.chosen.skip_broken |= record->data.skip_broken;
  if (!command.given("--threads")) data.threads = record->threads;
  if (!command.given("--device")) data.device_word = record->device;
  const auto precision = std::ranges::find(nn::kPrecisionNames, record->precision);
  if (!command.given("--precision") && precision != nn::kPrecisionNames.end()) {
    command.options.precision = static_cast<nn::Precision>(precision - nn::kPrecisionNames.begin());
  }
  command.options.deterministic |= record->deterministic;
}

int run(TrainCommand& command) {
  if (command.weights.ends_with(".medley")) {
    throw InvalidArgument(fmt::format(
        "--weights must be a .safetensors file, got the checkpoint {}; a finished run has "
        "weights.safetensors, and --resume goes on from checkpoints",
        command.weights));
  }
  const train::ExistingRun existing = command.existing.choice();
  if (existing == train::ExistingRun::resume) take_from_folder(command);
  nn::TrainOptions options = command.options;
  options.device = command.data.device();
  options.recipe = command.recipe.recipe();
  options.seed = command.seed;
  options.data_name = command.data.name();
  options.data = command.data.choice();
  options.command = command_line();
  options.threads = command.data.threads;
  options.out = command.out;
  options.weights = command.weights;
  options.existing = existing;
  nn::check_options(options);
  const std::string method(options.recipe.mix.method.name());
  command.recipe.note_unused({method}, command.output.quiet);
  command.recipe.note_test_resize(options.recipe, command.data, command.output.quiet);
  const data::ImageData data = command.data.open();
  DataOptions::note_empty_classes(data, command.output.quiet);
  using Lines = TrainConsole::Lines;
  TrainConsole console(method, options.recipe.epochs,
                       command.output.json ? Lines::json : Lines::text, command.output.quiet);
  watch_interrupts();
  const nn::TrainResult result = nn::train(data, options, console);
  DataOptions::note_left_out(data, command.output.quiet);
  if (result.stopped) {
    throw Error(fmt::format("stopped; a checkpoint is in {}, go on with --resume", command.out));
  }
  print_note(
      fmt::format("{} holds result.json, recipe.json, metrics.jsonl, weights.safetensors (seed {})",
                  command.out, command.seed),
      command.output.quiet);
  if (command.output.json && !console.output_problem().empty()) {
    throw IoError(fmt::format("{}; the run is finished, and {} has its lines",
                              console.output_problem(), (options.out / "metrics.jsonl").string()));
  }
  return kDone;
}

}  // namespace

Command add_train(CLI::App& program) {
  CLI::App* app = program.add_subcommand("train", "Train a network with mixed images");
  app->footer(kFooter);
  const auto command = std::make_shared<TrainCommand>();
  command->app = app;
  command->data.add_to(*app);
  add_path(*app, "--out", command->out, "DIR", "folder of the run; refused if it holds one")
      ->required()
      ->group("Data");
  add_path(*app, "--weights", command->weights, "FILE",
           "start from these weights, a .safetensors file of the same network")
      ->group("Data");
  command->recipe.add_to(*app);
  add_run_options(*app, command->options);
  command->existing.add_to(*app);
  add_seed(*app, command->seed);
  command->output.add_to(*app, "the lines of metrics.jsonl");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
