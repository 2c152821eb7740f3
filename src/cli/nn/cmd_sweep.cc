#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/interrupt.h"
#include "cli/nn/commands.h"
#include "cli/nn/run_options.h"
#include "cli/nn/train_console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/report/chart.h"

namespace medley::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley sweep --methods none,mixup,cutmix,hmix,gmix --seeds 1,2,3 --out runs\n"
    "  medley sweep --methods none,hmix --seeds 1 --epochs 10 --format markdown --out runs";

constexpr std::array<std::string_view, 3> kFormats = {"text", "csv", "markdown"};

struct SweepCommand {
  OutputOptions output;
  DataOptions data;
  RecipeOptions recipe;
  std::vector<std::string> methods = {"none", "mixup", "cutmix", "stochastic", "hmix", "gmix"};
  std::vector<std::uint64_t> seeds = {1};
  std::string out;
  std::string format = "text";
};

/// Results of a method over the seeds.
struct Row {
  std::string method;
  std::vector<double> top1;                      // of the last epoch
  std::vector<std::vector<double>> curves = {};  // of every epoch

  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double x : top1) sum += x;
    return sum / static_cast<double>(top1.size());
  }
  /// Sample standard deviation, 0 for one seed.
  [[nodiscard]] double deviation() const {
    if (top1.size() < 2) return 0;
    double sum = 0;
    for (const double x : top1) sum += (x - mean()) * (x - mean());
    return std::sqrt(sum / static_cast<double>(top1.size() - 1));
  }
};

std::vector<double> curve_of(const std::vector<EpochMetrics>& metrics) {
  std::vector<double> curve;
  curve.reserve(metrics.size());
  for (const EpochMetrics& m : metrics) curve.push_back(m.test_top1);
  return curve;
}

/// Runs one cell, or takes its result from the last checkpoint if it is finished: test accuracy
/// after every epoch.
std::vector<double> run_cell(const SweepCommand& command, const ImageData& data,
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
  return curve_of(result.metrics);
}

std::string table(const std::vector<Row>& rows, const std::string& format) {
  std::string text;
  if (format == "csv") {
    text = "method,seeds,test_top1_mean,test_top1_std\n";
    for (const Row& r : rows) {
      text +=
          fmt::format("{},{},{:.4f},{:.4f}\n", r.method, r.top1.size(), r.mean(), r.deviation());
    }
  } else if (format == "markdown") {
    text = "| method | seeds | test accuracy, % |\n|---|---|---|\n";
    for (const Row& r : rows) {
      text += fmt::format("| {} | {} | {:.2f} ± {:.2f} |\n", r.method, r.top1.size(), r.mean(),
                          r.deviation());
    }
  } else {
    text = fmt::format("{:<16} {:>5}  test accuracy, %\n", "method", "seeds");
    for (const Row& r : rows) {
      text += fmt::format("{:<16} {:>5}  {:.2f} ± {:.2f}\n", r.method, r.top1.size(), r.mean(),
                          r.deviation());
    }
  }
  return text;
}

/// Test accuracy by epoch, a curve per method: the mean over the seeds.
Image draw_curves(const std::vector<Row>& rows, std::size_t seeds) {
  constexpr std::array<Rgb, 8> kColours = {Rgb{90, 90, 90},   Rgb{31, 96, 176}, Rgb{214, 98, 20},
                                           Rgb{44, 140, 60},  Rgb{190, 40, 60}, Rgb{120, 70, 170},
                                           Rgb{150, 110, 40}, Rgb{20, 150, 160}};
  LinePanel panel{"test accuracy", {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Curve curve{rows[i].method, kColours[i % kColours.size()], {}};
    for (std::size_t epoch = 0; epoch < rows[i].curves.front().size(); ++epoch) {
      double sum = 0;
      for (const std::vector<double>& one : rows[i].curves) sum += one[epoch];
      curve.points.push_back({static_cast<double>(epoch + 1), sum / static_cast<double>(seeds)});
    }
    panel.curves.push_back(std::move(curve));
  }
  return draw_figure(LineFigure{
      "Test accuracy while training",
      fmt::format("Mean over {} seed{}, on unmixed test images.", seeds, seeds == 1 ? "" : "s"),
      "epoch",
      "percent",
      {std::move(panel)}});
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
    for (Row& row : rows) {
      row.curves.push_back(run_cell(command, data, row.method, seed));
      row.top1.push_back(row.curves.back().back());
    }
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
                                   {"test_top1", r.top1},
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
  add_word(
      *app, "--format", kFormats, 0, [command](std::size_t i) { command->format = kFormats.at(i); },
      "of the table")
      ->group("Output");
  command->recipe.add_to(*app);
  command->output.add_to(*app, "medley.sweep/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
