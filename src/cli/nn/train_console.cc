#include "cli/nn/train_console.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/interrupt.h"
#include "medley/error.h"
#include "train/run_folder.h"

namespace medley::cli {

void note_lengthened(const std::string& run, std::optional<std::int64_t> from, bool quiet) {
  if (!from) return;
  print_note(fmt::format("{} was lengthened from {} {}: it has the learning rates of two "
                         "schedules",
                         run, *from, *from == 1 ? "epoch" : "epochs"),
             quiet);
}

TrainConsole::TrainConsole(std::string label, std::int64_t epochs, Lines lines, bool quiet, Bar bar)
    : label_(std::move(label)), epochs_(epochs), lines_(lines), quiet_(quiet), bar_(bar) {}

void TrainConsole::on_note(const std::string& sentence) {
  print_note(bar_ == Bar::shown ? sentence : fmt::format("{}: {}", label_, sentence), quiet_);
}

void TrainConsole::on_epoch_start(std::int64_t epoch, std::int64_t steps) {
  if (bar_ == Bar::hidden) return;
  progress_.emplace(fmt::format("{} epoch {}/{}", label_, epoch, epochs_), steps, quiet_);
}

void TrainConsole::on_step(std::int64_t /*step*/, std::optional<double> loss) {
  if (!progress_) return;
  if (loss) progress_->set_detail(fmt::format("loss {:.3f}", *loss));
  progress_->tick();
}

void TrainConsole::on_epoch(const train::EpochMetrics& m) {
  progress_.reset();
  std::string line =
      fmt::format("{} epoch {}/{}: loss {:.4f}, ", label_, m.epoch, epochs_, m.train_loss);
  if (m.score) {
    line += fmt::format("test {:.2f} % (top 5 {:.2f} %), clean train {:.2f} %, ",
                        m.score->test_top1, m.score->test_top5, m.score->clean_train_top1);
  }
  line += fmt::format("{:.1f} s, {:.0f} images/s", m.seconds, m.images_per_s);
  switch (lines_) {
    case Lines::json:
      return print_line(train::metrics_line(m));
    case Lines::text:
      if (!quiet_) print_line(line);
      return;
  }
}

void TrainConsole::on_profile(const nn::StepProfile& profile) {
  if (lines_ == Lines::json) {
    nlohmann::ordered_json report = {{"schema", "medley.profile/1"},
                                     {"ms_per_step", profile.ms_per_step}};
    for (const auto& [name, ms] : profile.parts) report["parts_ms"][name] = ms;
    return print_line(report.dump());
  }
  std::string line = fmt::format("{} step {:.3f} ms:", label_, profile.ms_per_step);
  for (const auto& [name, ms] : profile.parts) {
    line += fmt::format("{} {} {:.3f} ms ({:.1f} %)", line.back() == ':' ? "" : ",", name, ms,
                        100 * ms / profile.ms_per_step);
  }
  print_note(line, quiet_);
}

void TrainConsole::print_line(const std::string& line) {
  if (!output_problem_.empty()) return;
  try {
    print(line + "\n");
  } catch (const IoError& problem) {
    output_problem_ = problem.what();
    print_note(fmt::format("{}; training goes on", output_problem_), quiet_);
  }
}

bool TrainConsole::stop() { return interrupted(); }

}  // namespace medley::cli
