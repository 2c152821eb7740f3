#include "cli/nn/run_grid.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "cli/console.h"
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

class GridRunner {
 public:
  GridRunner(const GridOptions& options, const ImageData& data, std::vector<GridRun>& runs)
      : options_(options), data_(data), runs_(runs) {
    for (std::size_t i = 0; i < runs.size(); ++i) open_.push_back(i);
  }

  void run() {
    std::vector<std::thread> workers;
    for (std::int64_t i = 1; i < std::min(options_.parallel, std::ssize(runs_)); ++i) {
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
        train(runs_[*at]);
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
    print_note(fmt::format("{}; goes on with {} side by side", why, running_), options_.quiet);
    return true;
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    if (!problem_) problem_ = std::current_exception();
    stop_ = true;
  }

  /// Trains, or takes the result from the last checkpoint if the run is finished.
  void train(GridRun& run) {
    nn::TrainOptions options = options_.common;
    if (!run.model.empty()) options.recipe.model = run.model;
    options.recipe.mix.method = run.method;
    options.seed = run.seed;
    const std::string prefix = run.model.empty() ? "" : run.model + "-";
    options.out /= fmt::format("{}{}-seed{}", prefix, run.method, run.seed);
    using Existing = RunFolder::Existing;
    options.existing = std::filesystem::exists(options.out) ? Existing::resume : Existing::refuse;
    using Bar = TrainConsole::Bar;
    RunConsole console(fmt::format("{} seed {}", run.name(), run.seed), options.recipe.epochs,
                       options_.quiet, options_.parallel > 1 ? Bar::hidden : Bar::shown, stop_);
    const nn::TrainResult result = nn::train(data_, options, console);
    if (result.stopped) {
      throw Error(
          fmt::format("stopped; the same command goes on in {}", options_.common.out.string()));
    }
    run.metrics = result.metrics;
  }

  const GridOptions& options_;
  const ImageData& data_;
  std::vector<GridRun>& runs_;
  std::mutex mutex_;  // of what follows
  std::int64_t running_ = 0;
  std::deque<std::size_t> open_;
  std::exception_ptr problem_;
  std::atomic<bool> stop_ = false;
};

}  // namespace

std::string GridRun::name() const { return model.empty() ? method : model + " " + method; }

void run_grid(const GridOptions& options, const ImageData& data, std::vector<GridRun>& runs) {
  GridRunner(options, data, runs).run();
}

}  // namespace medley::cli
