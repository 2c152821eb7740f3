#include "cli/nn/run_grid.h"

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/nn/job_queue.h"
#include "cli/nn/sweep_progress.h"
#include "cli/nn/train_console.h"
#include "medley/error.h"

namespace medley::cli {
namespace {

/// Adds to the line of the sweep, and stops with the other runs.
class RunConsole : public TrainConsole {
 public:
  RunConsole(std::size_t run, const std::string& label, const GridOptions& grid,
             SweepProgress& progress, const std::atomic<bool>& stop)
      : TrainConsole(label, grid.common.recipe.epochs, Lines::text, grid.quiet, Bar::hidden),
        run_(run),
        label_(label),
        progress_(progress),
        stop_(stop) {}

  void on_note(const std::string& sentence) override {
    progress_.note(fmt::format("{}: {}", label_, sentence));
  }
  void on_epoch_start(std::int64_t epoch, std::int64_t steps) override {
    progress_.start_epoch(run_, label_, epoch, steps);
  }
  void on_step(std::int64_t /*step*/, std::optional<double> /*loss*/) override {
    progress_.step(run_);
  }
  void on_epoch(const EpochMetrics& /*metrics*/) override {}
  void on_profile(const nn::StepProfile& profile) override {
    progress_.wipe();
    TrainConsole::on_profile(profile);
  }
  bool stop() override { return stop_ || TrainConsole::stop(); }

 private:
  std::size_t run_;
  std::string label_;
  SweepProgress& progress_;
  const std::atomic<bool>& stop_;
};

/// Trains, or takes the result from the folder if the run is finished.
void train(std::size_t number, GridRun& run, const GridOptions& grid, const ImageData& data,
           SweepProgress& progress, const std::atomic<bool>& stop) {
  nn::TrainOptions options = grid.common;
  if (!run.model.empty()) options.recipe.model = run.model;
  options.recipe.mix.method = run.method;
  options.seed = run.seed;
  const std::string prefix = run.model.empty() ? "" : run.model + "-";
  options.out /= fmt::format("{}{}-seed{}", prefix, run.method, run.seed);
  using Existing = RunFolder::Existing;
  options.existing = std::filesystem::exists(options.out) ? Existing::resume : Existing::refuse;
  const std::string label = fmt::format("{} seed {}", run.name(), run.seed);
  RunConsole console(number, label, grid, progress, stop);
  const nn::TrainResult result = nn::train(data, options, console);
  if (result.stopped) {
    throw Error(fmt::format("stopped; the same command goes on in {}", grid.common.out.string()));
  }
  run.metrics = result.metrics;
  run.lengthened_from = result.lengthened_from;
  progress.finish(number, label, *run.metrics.back().score);
}

}  // namespace

std::string GridRun::name() const { return model.empty() ? method : model + " " + method; }

void run_grid(const GridOptions& options, const ImageData& data, std::vector<GridRun>& runs) {
  SweepProgress progress(runs.size(), options.common.recipe.epochs, options.quiet);
  JobQueue queue(
      runs.size(), [&](std::size_t i) { train(i, runs[i], options, data, progress, queue.stop()); },
      [&](const std::string& sentence) { progress.note(sentence); });
  queue.run(options.parallel);
}

}  // namespace medley::cli
