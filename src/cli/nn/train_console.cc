#include "cli/nn/train_console.h"

#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/interrupt.h"

namespace medley::cli {

TrainConsole::TrainConsole(std::string label, std::int64_t epochs, Lines lines, bool quiet)
    : label_(std::move(label)), epochs_(epochs), lines_(lines), quiet_(quiet) {}

void TrainConsole::on_note(const std::string& sentence) { print_note(sentence, quiet_); }

void TrainConsole::on_epoch_start(std::int64_t epoch, std::int64_t steps) {
  progress_.emplace(fmt::format("{} epoch {}/{}", label_, epoch, epochs_), steps, quiet_);
}

void TrainConsole::on_step(std::int64_t /*step*/, double loss) {
  progress_->set_detail(fmt::format("loss {:.3f}", loss));
  progress_->tick();
}

void TrainConsole::on_epoch(const EpochMetrics& m) {
  progress_.reset();
  const std::string line = fmt::format(
      "{} epoch {}/{}: loss {:.4f}, test {:.2f} % (top 5 {:.2f} %), clean train {:.2f} %, "
      "{:.1f} s, {:.0f} images/s",
      label_, m.epoch, epochs_, m.train_loss, m.test_top1, m.test_top5, m.clean_train_top1,
      m.seconds, m.images_per_s);
  switch (lines_) {
    case Lines::json:
      return print(metrics_line(m) + "\n");
    case Lines::text:
      if (!quiet_) print(line + "\n");
      return;
    case Lines::aside:
      return print_note(line, quiet_);
  }
}

bool TrainConsole::stop() { return interrupted(); }

}  // namespace medley::cli
