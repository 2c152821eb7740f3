#include "cli/nn/sweep_progress.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/progress.h"

namespace medley::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};

}  // namespace

std::string sweep_line(double share, double seconds_left, const std::string& run,
                       std::size_t columns) {
  std::vector<std::string> parts = {fmt::format("{:.0f} %", 100 * share)};
  if (seconds_left > 0) parts.push_back(clock_text(seconds_left) + " left");
  parts.push_back(run);
  return bar_line("sweep", std::clamp(share, 0.0, 1.0), std::move(parts), columns);
}

SweepProgress::SweepProgress(std::size_t runs, std::int64_t epochs, bool quiet)
    : runs_(runs),
      epochs_(static_cast<double>(epochs)),
      quiet_(quiet),
      shown_(!quiet && stderr_is_terminal()) {}

SweepProgress::~SweepProgress() { erase(); }

void SweepProgress::start_epoch(std::size_t run, const std::string& label, std::int64_t epoch,
                                std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  Run& r = runs_[run];
  r.label = label;
  r.epoch = epoch;
  r.done = static_cast<double>(epoch - 1);
  r.step = 1 / static_cast<double>(std::max<std::int64_t>(steps, 1));
  if (r.first < 0) r.first = r.done;
}

void SweepProgress::step(std::size_t run) {
  const std::lock_guard lock(mutex_);
  runs_[run].done += runs_[run].step;
  draw(runs_[run]);
}

void SweepProgress::finish(std::size_t run, const std::string& label, const train::Score& last) {
  const std::lock_guard lock(mutex_);
  ++ended_;
  runs_[run].done = epochs_;
  if (runs_[run].first < 0) {
    runs_[run].first = epochs_;
    return;
  }
  erase();
  const double left = seconds_left();
  print_note(fmt::format("{}: test {:.2f} %, clean train {:.2f} %; {} of {} runs done{}", label,
                         last.test_top1, last.clean_train_top1, ended_, runs_.size(),
                         left > 0 ? fmt::format(", {} left", clock_text(left)) : ""),
             quiet_);
}

void SweepProgress::fail(std::size_t run, const std::string& label, const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++ended_;
  Run& r = runs_[run];
  // Nothing of it is left, but only what it did took time.
  r.first = r.first < 0 ? epochs_ : epochs_ - (r.done - r.first);
  r.done = epochs_;
  erase();
  print_error(fmt::format("{} failed: {}", label, why));
}

void SweepProgress::note(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  erase();
  print_note(sentence, quiet_);
}

void SweepProgress::wipe() {
  const std::lock_guard lock(mutex_);
  erase();
}

double SweepProgress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

double SweepProgress::seconds_left() const {
  double worked = 0;
  double left = 0;
  for (const Run& run : runs_) {
    if (run.first >= 0) worked += run.done - run.first;
    left += epochs_ - run.done;
  }
  return worked > 0 ? seconds() * left / worked : 0;
}

std::string SweepProgress::line(const Run& run) const {
  double done = 0;
  for (const Run& r : runs_) done += r.done;
  const double share = done / (epochs_ * static_cast<double>(runs_.size()));
  return sweep_line(share, seconds_left(),
                    fmt::format("{} epoch {}/{:.0f}", run.label, run.epoch, epochs_),
                    line_columns());
}

void SweepProgress::draw(const Run& run) {
  const Clock::time_point now = Clock::now();
  if (!shown_ || now - last_ < kRedraw) return;
  last_ = now;
  drawn_ = true;
  static_cast<void>(std::fputs(fmt::format("\r{}\x1b[K", line(run)).c_str(), stderr));
  static_cast<void>(std::fflush(stderr));
}

void SweepProgress::erase() {
  if (!drawn_) return;
  drawn_ = false;
  static_cast<void>(std::fputs("\r\x1b[K", stderr));
}

}  // namespace medley::cli
