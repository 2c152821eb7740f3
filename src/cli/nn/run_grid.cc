#include "cli/nn/run_grid.h"

#include <atomic>
#include <filesystem>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/nn/job_queue.h"
#include "cli/nn/train_console.h"
#include "medley/error.h"

namespace medley::cli {
namespace {

/// Stops with the other runs.
class RunConsole : public TrainConsole {
 public:
  RunConsole(const std::string& label, std::int64_t epochs, bool quiet, Bar bar,
             const std::atomic<bool>& stop)
      : TrainConsole(label, epochs, Lines::aside, quiet, bar), stop_(stop) {}
  bool stop() override { return stop_ || TrainConsole::stop(); }

 private:
  const std::atomic<bool>& stop_;
};

/// Trains, or takes the result from the folder if the run is finished.
void train(GridRun& run, const GridOptions& grid, const ImageData& data,
           const std::atomic<bool>& stop) {
  nn::TrainOptions options = grid.common;
  if (!run.model.empty()) options.recipe.model = run.model;
  options.recipe.mix.method = run.method;
  options.seed = run.seed;
  const std::string prefix = run.model.empty() ? "" : run.model + "-";
  options.out /= fmt::format("{}{}-seed{}", prefix, run.method, run.seed);
  using Existing = RunFolder::Existing;
  options.existing = std::filesystem::exists(options.out) ? Existing::resume : Existing::refuse;
  using Bar = TrainConsole::Bar;
  RunConsole console(fmt::format("{} seed {}", run.name(), run.seed), options.recipe.epochs,
                     grid.quiet, grid.parallel > 1 ? Bar::hidden : Bar::shown, stop);
  const nn::TrainResult result = nn::train(data, options, console);
  if (result.stopped) {
    throw Error(fmt::format("stopped; the same command goes on in {}", grid.common.out.string()));
  }
  run.metrics = result.metrics;
  run.lengthened_from = result.lengthened_from;
}

}  // namespace

std::string GridRun::name() const { return model.empty() ? method : model + " " + method; }

void run_grid(const GridOptions& options, const ImageData& data, std::vector<GridRun>& runs) {
  JobQueue queue(
      runs.size(), [&](std::size_t i) { train(runs[i], options, data, queue.stop()); },
      [&](const std::string& sentence) { print_note(sentence, options.quiet); });
  queue.run(options.parallel);
}

}  // namespace medley::cli
