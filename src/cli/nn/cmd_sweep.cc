#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/interrupt.h"
#include "cli/nn/accuracy_curves.h"
#include "cli/nn/commands.h"
#include "cli/nn/run_grid.h"
#include "cli/nn/run_options.h"
#include "cli/nn/train_console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/run_program.h"
#include "cli/staged_output.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/nn/trainer.h"
#include "medley/train/result.h"

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
  nn::TrainOptions common;
  RecipeOptions recipe;
  std::vector<std::string> models;
  std::int64_t parallel = 1;
  std::vector<std::string> methods = {train::paper_methods().begin(), train::paper_methods().end()};
  std::vector<std::uint64_t> seeds = {1};
  std::string out;
  train::TableFormat format = train::TableFormat::text;
};

/// Results of a method over the seeds.
struct Row {
  std::string name;  ///< method, after the network if there are several
  std::string model;
  std::string method;
  std::vector<std::vector<train::EpochMetrics>> runs = {};  ///< of those that did not fail
  std::vector<std::optional<double>> top1 = {};             ///< of the last epoch, by seed
  std::size_t failed = 0;

  [[nodiscard]] std::optional<train::Spread> spread() const {
    std::vector<double> values;
    for (const std::optional<double>& value : top1) {
      if (value) values.push_back(*value);
    }
    return values.empty() ? std::nullopt : std::optional(train::spread_of(values));
  }
  /// "79.30 ± 0.20", and how many runs failed.
  [[nodiscard]] std::string text() const {
    const std::optional<train::Spread> numbers = spread();
    const std::string text = numbers ? to_text(*numbers) : "–";
    return failed == 0 ? text : fmt::format("{} ({} of {} failed)", text, failed, top1.size());
  }
};

std::string table(const std::vector<Row>& rows, train::TableFormat format) {
  std::string text;
  if (format == train::TableFormat::csv) {
    text = "model,method,seeds,test_top1_mean,test_top1_std,failed\n";
    for (const Row& r : rows) {
      const std::optional<train::Spread> s = r.spread();
      text += fmt::format("{},{},{},{},{},{}\n", r.model, r.method, r.runs.size(),
                          s ? fmt::format("{:.4f}", s->mean) : "",
                          s && s->deviation ? fmt::format("{:.4f}", *s->deviation) : "", r.failed);
    }
  } else if (format == train::TableFormat::markdown) {
    text = "| method | seeds | test accuracy, % |\n|---|---|---|\n";
    for (const Row& r : rows) {
      text += fmt::format("| {} | {} | {} |\n", r.name, r.runs.size(), r.text());
    }
  } else {
    text = fmt::format("{:<16} {:>5}  test accuracy, %\n", "method", "seeds");
    for (const Row& r : rows) {
      text += fmt::format("{:<16} {:>5}  {}\n", r.name, r.runs.size(), r.text());
    }
  }
  return text;
}

/// Test accuracy by epoch, a curve per method: the mean over the seeds.
data::Image draw_curves(const std::vector<Row>& rows, std::size_t seeds) {
  AccuracyPanel panel{"test accuracy", {}};
  for (const Row& row : rows) {
    if (!row.runs.empty()) panel.methods.emplace_back(row.name, train::mean_accuracy(row.runs));
  }
  return draw_accuracy({panel}, fmt::format("Mean over {} seed{}, on unmixed test images.", seeds,
                                            seeds == 1 ? "" : "s"));
}

/// Every combination; those of the first seed come first.
std::vector<GridRun> runs_of(const SweepCommand& command) {
  std::vector<GridRun> runs;
  const std::vector<std::string> recipes_own = {""};
  for (const std::uint64_t seed : command.seeds) {
    for (const std::string& model : command.models.empty() ? recipes_own : command.models) {
      for (const std::string& method : command.methods) runs.push_back({model, method, seed});
    }
  }
  return runs;
}

/// One row per network and method, in the order of the runs.
std::vector<Row> rows_of(const std::vector<GridRun>& runs, const std::string& recipes_model) {
  std::vector<Row> rows;
  for (const GridRun& run : runs) {
    auto row = std::ranges::find(rows, run.name(), &Row::name);
    if (row == rows.end()) {
      const std::string& model = run.model.empty() ? recipes_model : run.model;
      row = rows.insert(rows.end(), Row{run.name(), model, run.method, {}});
    }
    if (run.problem.empty()) {
      row->runs.push_back(run.metrics);
      row->top1.emplace_back(run.metrics.back().score->test_top1);
    } else {
      row->top1.emplace_back();
      ++row->failed;
    }
  }
  return rows;
}

/// What is there twice would be one run, and count as two.
template <typename T>
void refuse_repeats(const char* option, const std::vector<T>& values) {
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (std::find(values.begin(), value, *value) != value) {
      throw InvalidArgument(fmt::format("{} names {} twice", option, *value));
    }
  }
}

void check(const SweepCommand& command, nn::TrainOptions common) {
  if (command.parallel < 1) {
    throw InvalidArgument(fmt::format("parallel must be >= 1, got {}", command.parallel));
  }
  if (command.methods.empty() || command.seeds.empty()) {
    throw InvalidArgument("a sweep needs at least one method and one seed");
  }
  for (const std::string& method : command.methods) {
    train::choose_method(common.recipe, method);
    nn::check_options(common);
  }
  for (const std::string& model : command.models) nn::check_model(model);
  refuse_repeats("--methods", command.methods);
  refuse_repeats("--models", command.models);
  refuse_repeats("--seeds", command.seeds);
}

GridOptions options_of(const SweepCommand& command) {
  GridOptions options;
  options.common = command.common;
  options.common.recipe = command.recipe.recipe();
  options.common.data_name = command.data.name();
  options.common.data = command.data.choice();
  options.common.command = command_line();
  options.common.threads = command.data.threads;
  options.common.device = command.data.device();
  options.common.out = command.out;
  options.parallel = command.parallel;
  options.quiet = command.output.quiet;
  return options;
}

/// Runs side by side wait for each other where they share CUDA's hardware queues, of which it makes
/// 8 unless told otherwise before its first call.
void ask_for_hardware_queues() {
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
}

int run(const SweepCommand& command) {
  if (command.parallel > 1) ask_for_hardware_queues();
  const GridOptions options = options_of(command);
  check(command, options.common);
  command.recipe.note_unused(command.methods, command.output.quiet);
  if (!command.models.empty() && command.recipe.given("model")) {
    print_note("--model is not used beside --models", command.output.quiet);
  }
  command.recipe.note_test_resize(options.common.recipe, command.data, command.output.quiet);
  const data::ImageData data = command.data.open();
  DataOptions::note_empty_classes(data, command.output.quiet);
  watch_interrupts();
  std::vector<GridRun> runs = runs_of(command);
  run_grid(options, data, runs);
  const std::vector<Row> rows = rows_of(runs, options.common.recipe.model);
  for (const GridRun& run : runs) {
    note_lengthened(fmt::format("{} seed {}", run.name(), run.seed), run.lengthened_from,
                    command.output.quiet);
  }
  DataOptions::note_left_out(data, command.output.quiet);
  const auto failed =
      std::ranges::count_if(runs, [](const GridRun& r) { return !r.problem.empty(); });
  if (failed < std::ssize(runs)) {
    const fs::path curves = fs::path(command.out) / "curves.png";
    write_staged(curves, data::encode_png(draw_curves(rows, command.seeds.size())));
    print_note(fmt::format("{} shows the test accuracy of every epoch", curves.string()),
               command.output.quiet);
  }
  if (command.output.json) {
    nlohmann::ordered_json report = {{"schema", "medley.sweep/1"}, {"seeds", command.seeds}};
    for (const Row& r : rows) {
      nlohmann::ordered_json row = {{"model", r.model},
                                    {"method", r.method},
                                    {"test_top1", nlohmann::ordered_json::array()},
                                    {"mean", nullptr},
                                    {"std", nullptr}};
      for (const std::optional<double>& value : r.top1) {
        row["test_top1"].push_back(value ? nlohmann::ordered_json(*value) : nullptr);
      }
      if (const std::optional<train::Spread> spread = r.spread()) {
        row["mean"] = spread->mean;
        if (spread->deviation) row["std"] = *spread->deviation;
      }
      report["methods"].push_back(std::move(row));
    }
    print(to_text(report));
  } else {
    print(table(rows, command.format));
  }
  if (failed > 0) {
    throw Error(fmt::format("{} of {} runs failed; the same command tries them again", failed,
                            runs.size()));
  }
  return kDone;
}

}  // namespace

Command add_sweep(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("sweep", "Train every combination of networks, methods and seeds");
  app->footer(kFooter);
  const auto command = std::make_shared<SweepCommand>();
  command->data.add_to(*app);
  add_path(*app, "--out", command->out, "DIR",
           "folder for one run per combination; finished runs are not repeated")
      ->required()
      ->group("Data");
  app->add_option("--methods", command->methods, "methods, separated by commas")
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(command->methods, ",")))
      ->group("Grid");
  app->add_option("--models", command->models,
                  "networks, separated by commas, instead of the recipe's")
      ->delimiter(',')
      ->group("Grid");
  add_integer(*app, "--parallel", command->parallel, "runs side by side")->group("Grid");
  add_integers(*app, "--seeds", command->seeds, "seeds, separated by commas")
      ->default_str("1")
      ->group("Grid");
  add_table_format(*app, command->format);
  command->recipe.add_to(*app, "method");
  add_run_options(*app, command->common, "checkpoint_minutes");
  command->output.add_to(*app, "medley.sweep/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
