#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/interrupt.h"
#include "cli/nn/accuracy_curves.h"
#include "cli/nn/commands.h"
#include "cli/nn/run_options.h"
#include "cli/nn/train_console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/train/result_table.h"

namespace medley::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley sweep --methods none,mixup,cutmix,hmix,gmix --seeds 1,2,3 --out runs\n"
    "  medley sweep --methods none,hmix --seeds 1 --epochs 10 --format markdown --out runs";

struct SweepCommand {
  OutputOptions output;
  DataOptions data;
  RecipeOptions recipe;
  std::vector<std::string> methods = {"none", "mixup", "cutmix", "stochastic", "hmix", "gmix"};
  std::vector<std::uint64_t> seeds = {1};
  std::string out;
  TableFormat format = TableFormat::text;
};

/// Results of a method over the seeds.
struct Row {
  std::string method;
  std::vector<std::vector<EpochMetrics>> runs = {};

  /// Of the last epoch, by seed.
  [[nodiscard]] std::vector<double> top1() const {
    std::vector<double> values;
    for (const std::vector<EpochMetrics>& run : runs) values.push_back(run.back().test_top1);
    return values;
  }
  [[nodiscard]] double mean() const { return spread_of(top1()).mean; }
  /// Sample standard deviation, 0 for one seed.
  [[nodiscard]] double deviation() const { return spread_of(top1()).deviation.value_or(0); }
};

/// Runs one cell, or takes its result from the last checkpoint if it is finished.
std::vector<EpochMetrics> run_cell(const SweepCommand& command, const ImageData& data,
                                   const std::string& method, std::uint64_t seed) {
  nn::TrainOptions options;
  options.recipe = command.recipe.recipe();
  options.recipe.mix.method = method;
  options.seed = seed;
  options.data_name = command.data.name();
  options.threads = command.data.threads;
  options.out = fs::path(command.out) / fmt::format("{}-seed{}", method, seed);
  options.existing = RunFolder::Existing::resume;
  check_recipe(options.recipe);
  TrainConsole console(fmt::format("{} seed {}", method, seed), options.recipe.epochs,
                       TrainConsole::Lines::aside, command.output.quiet);
  const nn::TrainResult result = nn::train(data, options, console);
  if (result.stopped) {
    throw Error(fmt::format("stopped; the same command goes on in {}", command.out));
  }
  return result.metrics;
}

std::string table(const std::vector<Row>& rows, TableFormat format) {
  std::string text;
  if (format == TableFormat::csv) {
    text = "method,seeds,test_top1_mean,test_top1_std\n";
    for (const Row& r : rows) {
      text +=
          fmt::format("{},{},{:.4f},{:.4f}\n", r.method, r.runs.size(), r.mean(), r.deviation());
    }
  } else if (format == TableFormat::markdown) {
    text = "| method | seeds | test accuracy, % |\n|---|---|---|\n";
    for (const Row& r : rows) {
      text += fmt::format("| {} | {} | {:.2f} ± {:.2f} |\n", r.method, r.runs.size(), r.mean(),
                          r.deviation());
    }
  } else {
    text = fmt::format("{:<16} {:>5}  test accuracy, %\n", "method", "seeds");
    for (const Row& r : rows) {
      text += fmt::format("{:<16} {:>5}  {:.2f} ± {:.2f}\n", r.method, r.runs.size(), r.mean(),
                          r.deviation());
    }
  }
  return text;
}

/// Test accuracy by epoch, a curve per method: the mean over the seeds.
Image draw_curves(const std::vector<Row>& rows, std::size_t seeds) {
  AccuracyPanel panel{"test accuracy", {}};
  for (const Row& row : rows) panel.methods.emplace_back(row.method, mean_accuracy(row.runs));
  return draw_accuracy({panel}, fmt::format("Mean over {} seed{}, on unmixed test images.", seeds,
                                            seeds == 1 ? "" : "s"));
}

int run(const SweepCommand& command) {
  command.data.check_device();
  if (command.methods.empty() || command.seeds.empty()) {
    throw InvalidArgument("a sweep needs at least one method and one seed");
  }
  for (const std::string& method : command.methods) (void)get_method(method);
  const ImageData data = command.data.open();
  watch_interrupts();
  std::vector<Row> rows;
  for (const std::string& method : command.methods) rows.push_back({method, {}});
  for (const std::uint64_t seed : command.seeds) {
    for (Row& row : rows) row.runs.push_back(run_cell(command, data, row.method, seed));
  }
  DataOptions::note_left_out(data, command.output.quiet);
  const fs::path curves = fs::path(command.out) / "curves.png";
  write_png(curves, draw_curves(rows, command.seeds.size()));
  print_note(fmt::format("{} shows the test accuracy of every epoch", curves.string()),
             command.output.quiet);
  if (command.output.json) {
    nlohmann::ordered_json report = {{"schema", "medley.sweep/1"}, {"seeds", command.seeds}};
    for (const Row& r : rows) {
      report["methods"].push_back({{"method", r.method},
                                   {"test_top1", r.top1()},
                                   {"mean", r.mean()},
                                   {"std", r.deviation()}});
    }
    print(to_text(report));
  } else {
    print(table(rows, command.format));
  }
  return kDone;
}

}  // namespace

Command add_sweep(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("sweep", "Train every combination of methods and seeds, and compare");
  app->footer(kFooter);
  const auto command = std::make_shared<SweepCommand>();
  command->data.add_to(*app);
  add_path(*app, "--out", command->out, "DIR",
           "folder for one run per combination; finished runs are not repeated")
      ->required()
      ->group("Data");
  app->add_option("--methods", command->methods, "methods, separated by commas")
      ->delimiter(',')
      ->default_str("none,mixup,cutmix,stochastic,hmix,gmix")
      ->group("Grid");
  app->add_option("--seeds", command->seeds, "seeds, separated by commas")
      ->delimiter(',')
      ->default_str("1")
      ->group("Grid");
  add_table_format(*app, command->format);
  command->recipe.add_to(*app);
  command->output.add_to(*app, "medley.sweep/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
