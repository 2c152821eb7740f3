#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/interrupt.h"
#include "cli/nn/commands.h"
#include "cli/nn/run_options.h"
#include "cli/nn/train_console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "medley/error.h"

namespace medley::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  medley train --data synthetic --model resnet8 --method hmix --epochs 5 --out runs/a\n"
    "  medley train --data cifar100:cifar-100-binary --recipe cifar100-paper --method gmix "
    "--out runs/b\n"
    "  medley train --data folder:imagenet --recipe imagenet-paper --skip-broken --out runs/c";

struct TrainCommand {
  OutputOptions output;
  DataOptions data;
  EngineOptions engine;
  RecipeOptions recipe;
  CheckpointOptions checkpoints;
  std::uint64_t seed = 0;
  std::string out;
  std::string weights;
};

int run(const TrainCommand& command) {
  nn::TrainOptions options;
  options.device = command.data.device();
  command.engine.apply_to(options);
  options.recipe = command.recipe.recipe();
  options.seed = command.seed;
  options.data_name = command.data.name();
  options.threads = command.data.threads;
  options.out = command.out;
  options.weights = command.weights;
  options.existing = command.checkpoints.existing();
  options.checkpoint_epochs = command.checkpoints.epochs;
  options.checkpoint_minutes = command.checkpoints.minutes;
  nn::check_options(options);
  command.recipe.note_unused({options.recipe.mix.method}, command.output.quiet);
  const ImageData data = command.data.open();
  using Lines = TrainConsole::Lines;
  TrainConsole console(options.recipe.mix.method, options.recipe.epochs,
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
  return kDone;
}

}  // namespace

Command add_train(CLI::App& program) {
  CLI::App* app = program.add_subcommand("train", "Train a network with mixed images");
  app->footer(kFooter);
  const auto command = std::make_shared<TrainCommand>();
  command->data.add_to(*app);
  add_path(*app, "--out", command->out, "DIR", "folder of the run; refused if it holds one")
      ->required()
      ->group("Data");
  add_path(*app, "--weights", command->weights, "FILE",
           "start from these weights, a .safetensors file of the same network")
      ->group("Data");
  command->engine.add_to(*app);
  command->recipe.add_to(*app);
  command->checkpoints.add_to(*app);
  add_seed(*app, command->seed);
  command->output.add_to(*app, "the lines of metrics.jsonl");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
