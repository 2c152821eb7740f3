#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
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
#include "medley/nn/models.h"
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
  EngineOptions engine;
  RecipeOptions recipe;
  std::vector<std::string> models;
  std::int64_t parallel = 1;
  std::int64_t checkpoint_epochs = 1;
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

/// A run of the grid.
struct Cell {
  std::string model;
  std::string method;
  std::uint64_t seed = 0;
  std::vector<EpochMetrics> metrics = {};  // once they are known
};

/// Stops with the other runs.
class CellConsole : public TrainConsole {
 public:
  CellConsole(const std::string& label, std::int64_t epochs, bool quiet, Bar bar,
              const std::atomic<bool>& stop)
      : TrainConsole(label, epochs, Lines::aside, quiet, bar), stop_(stop) {}
  bool stop() override { return stop_ || TrainConsole::stop(); }

 private:
  const std::atomic<bool>& stop_;
};

/// Runs the cells of a grid, several side by side.
class GridRunner {
 public:
  GridRunner(const SweepCommand& command, const ImageData& data, std::vector<Cell>& cells)
      : command_(command), data_(data), cells_(cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) open_.push_back(i);
  }

  /// Throws what a run threw, once the others have stopped.
  void run() {
    std::vector<std::thread> workers;
    for (std::int64_t i = 1; i < std::min(command_.parallel, std::ssize(cells_)); ++i) {
      workers.emplace_back([this] { work(); });
    }
    work();
    for (std::thread& worker : workers) worker.join();
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  void work() {
    while (const std::optional<std::size_t> at = take()) {
      try {
        run_cell(cells_[*at]);
        finish();
      } catch (const DeviceMemoryError& problem) {
        if (!give_way(*at, problem.what())) return fail();
        return;
      } catch (...) {
        return fail();
      }
    }
  }

  std::optional<std::size_t> take() {
    const std::lock_guard lock(mutex_);
    if (stop_ || open_.empty()) return {};
    const std::size_t at = open_.front();
    open_.pop_front();
    ++running_;
    return at;
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    --running_;
  }

  /// Leaves a run that found no room on the device to those that have, if there are any.
  bool give_way(std::size_t at, const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) return false;
    open_.push_front(at);
    print_note(fmt::format("{}; goes on with {} side by side", why, running_),
               command_.output.quiet);
    return true;
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    if (!problem_) problem_ = std::current_exception();
    stop_ = true;
  }

  /// Trains, or takes the result from the last checkpoint if the run is finished.
  void run_cell(Cell& cell) {
    nn::TrainOptions options;
    options.recipe = command_.recipe.recipe();
    if (!cell.model.empty()) options.recipe.model = cell.model;
    options.recipe.mix.method = cell.method;
    options.seed = cell.seed;
    options.data_name = command_.data.name();
    options.threads = command_.data.threads;
    options.device = command_.data.device();
    command_.engine.apply_to(options);
    const std::string prefix = cell.model.empty() ? "" : cell.model + "-";
    options.out =
        fs::path(command_.out) / fmt::format("{}{}-seed{}", prefix, cell.method, cell.seed);
    options.existing = RunFolder::Existing::resume;
    options.checkpoint_epochs = command_.checkpoint_epochs;
    check_recipe(options.recipe);
    const std::string label = fmt::format("{}{}{} seed {}", cell.model,
                                          cell.model.empty() ? "" : " ", cell.method, cell.seed);
    using Bar = TrainConsole::Bar;
    CellConsole console(label, options.recipe.epochs, command_.output.quiet,
                        command_.parallel > 1 ? Bar::hidden : Bar::shown, stop_);
    const nn::TrainResult result = nn::train(data_, options, console);
    if (result.stopped) {
      throw Error(fmt::format("stopped; the same command goes on in {}", command_.out));
    }
    cell.metrics = result.metrics;
  }

  const SweepCommand& command_;
  const ImageData& data_;
  std::vector<Cell>& cells_;
  std::mutex mutex_;  // of what follows
  std::int64_t running_ = 0;
  std::deque<std::size_t> open_;
  std::exception_ptr problem_;
  std::atomic<bool> stop_ = false;
};

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

/// Every combination; those of the first seed come first.
std::vector<Cell> cells_of(const SweepCommand& command) {
  std::vector<Cell> cells;
  const std::vector<std::string> recipes_own = {""};
  for (const std::uint64_t seed : command.seeds) {
    for (const std::string& model : command.models.empty() ? recipes_own : command.models) {
      for (const std::string& method : command.methods) cells.push_back({model, method, seed});
    }
  }
  return cells;
}

/// One row per network and method, in the order of the cells.
std::vector<Row> rows_of(const std::vector<Cell>& cells) {
  std::vector<Row> rows;
  for (const Cell& cell : cells) {
    const std::string name = cell.model.empty() ? cell.method : cell.model + " " + cell.method;
    auto row = std::ranges::find(rows, name, &Row::method);
    if (row == rows.end()) row = rows.insert(rows.end(), Row{name, {}});
    row->runs.push_back(cell.metrics);
  }
  return rows;
}

int run(const SweepCommand& command) {
  (void)command.data.device();
  if (command.parallel < 1) {
    throw InvalidArgument(fmt::format("parallel must be >= 1, got {}", command.parallel));
  }
  if (command.checkpoint_epochs < 1) {
    throw InvalidArgument(
        fmt::format("checkpoint_epochs must be >= 1, got {}", command.checkpoint_epochs));
  }
  if (command.methods.empty() || command.seeds.empty()) {
    throw InvalidArgument("a sweep needs at least one method and one seed");
  }
  for (const std::string& method : command.methods) (void)get_method(method);
  for (const std::string& model : command.models) (void)nn::parameter_count(model, 2);
  const ImageData data = command.data.open();
  watch_interrupts();
  std::vector<Cell> cells = cells_of(command);
  GridRunner(command, data, cells).run();
  std::vector<Row> rows = rows_of(cells);
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
  app->add_option("--models", command->models,
                  "networks, separated by commas; default: the recipe's")
      ->delimiter(',')
      ->group("Grid");
  add_integer(*app, "--parallel", command->parallel, "runs side by side")->group("Grid");
  add_integer(*app, "--checkpoint-epochs", command->checkpoint_epochs,
              "a checkpoint after so many epochs")
      ->group("Grid");
  app->add_option("--seeds", command->seeds, "seeds, separated by commas")
      ->delimiter(',')
      ->default_str("1")
      ->group("Grid");
  add_table_format(*app, command->format);
  command->engine.add_to(*app);
  command->recipe.add_to(*app);
  command->output.add_to(*app, "medley.sweep/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
