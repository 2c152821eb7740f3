#include "cli/nn/run_grid.h"

#include <atomic>
#include <exception>
#include <filesystem>
#include <new>
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
  void on_epoch(const train::EpochMetrics& /*metrics*/) override {}
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

/// The user asked for it.
class Stopped : public Error {
  using Error::Error;
};

std::string label_of(const GridRun& run) { return fmt::format("{} seed {}", run.name(), run.seed); }

/// Trains, or takes the result from the folder if the run is finished.
void train(std::size_t number, GridRun& run, const GridOptions& grid, const data::ImageData& data,
           SweepProgress& progress, const std::atomic<bool>& stop) {
  nn::TrainOptions options = grid.common;
  if (!run.model.empty()) options.recipe.model = run.model;
  train::choose_method(options.recipe, run.method);
  options.seed = run.seed;
  const std::string prefix = run.model.empty() ? "" : run.model + "-";
  options.out /= fmt::format("{}{}-seed{}", prefix, run.method, run.seed);
  using train::ExistingRun;
  options.existing =
      std::filesystem::exists(options.out) ? ExistingRun::resume : ExistingRun::refuse;
  const std::string label = label_of(run);
  RunConsole console(number, label, grid, progress, stop);
  const nn::TrainResult result = nn::train(data, options, console);
  if (result.stopped) {
    throw Stopped(fmt::format("stopped; the same command goes on in {}", grid.common.out.string()));
  }
  run.metrics = result.metrics;
  run.lengthened_from = result.lengthened_from;
  progress.finish(number, label, *run.metrics.back().score);
}

/// Why a run failed, in a sentence; nothing if that ends the others too.
std::optional<std::string> reason_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const InvalidArgument&) {
    return {};
  } catch (const Stopped&) {
    return {};
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

}  // namespace

std::string GridRun::name() const { return model.empty() ? method : model + " " + method; }

void run_grid(const GridOptions& options, const data::ImageData& data, std::vector<GridRun>& runs) {
  SweepProgress progress(runs.size(), options.common.recipe.epochs, options.quiet);
  JobQueue queue(
      runs.size(), [&](std::size_t i) { train(i, runs[i], options, data, progress, queue.stop()); },
      [&](const std::string& sentence) { progress.note(sentence); },
      [&](std::size_t i, const std::exception_ptr& why) {
        const std::optional<std::string> reason = reason_of(why);
        if (!reason) return false;
        runs[i].problem = *reason;
        progress.fail(i, label_of(runs[i]), *reason);
        return true;
      });
  queue.run(options.parallel);
}

}  // namespace medley::cli
