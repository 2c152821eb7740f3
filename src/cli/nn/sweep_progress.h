#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "medley/train/result.h"

namespace medley::cli {

/// How far the runs of a sweep are: one line on a terminal with the time left of all of them, and a
/// sentence for each run that ends. Safe to call from several threads.
class SweepProgress {
 public:
  /// `epochs` is the number that each run has.
  SweepProgress(std::size_t runs, std::int64_t epochs, bool quiet);
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  /// Run `run` begins an epoch, counted from 1, of so many steps.
  void start_epoch(std::size_t run, const std::string& label, std::int64_t epoch,
                   std::int64_t steps);
  void step(std::size_t run);
  /// Run `run` has ended; nothing is said of runs that were finished before.
  void finish(std::size_t run, const std::string& label, const train::Score& last);
  /// Run `run` has ended without a result; said in any case.
  void fail(std::size_t run, const std::string& label, const std::string& why);
  /// A sentence above the line.
  void note(const std::string& sentence);
  /// Makes room for what others print.
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;

  struct Run {
    std::string label;
    std::int64_t epoch = 0;  // under way, from 1
    double first = -1;       // epochs that were done when it started here
    double done = 0;         // epochs, with the part of the one under way
    double step = 0;         // share of an epoch
  };

  [[nodiscard]] double seconds() const;
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] std::string line(const Run& run) const;
  void draw(const Run& run);
  void erase();

  std::vector<Run> runs_;
  double epochs_;
  bool quiet_;
  bool shown_;
  bool drawn_ = false;
  std::size_t ended_ = 0;
  std::mutex mutex_;  // of all of it
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// "sweep [######--------------] 31 %  1:42 left  cutmix seed 1 epoch 173/200"; the time is left
/// out if it is not positive, the bar and the run where there are too few columns.
[[nodiscard]] std::string sweep_line(double share, double seconds_left, const std::string& run,
                                     std::size_t columns);

}  // namespace medley::cli
