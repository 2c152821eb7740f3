#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/progress.h"
#include "medley/nn/trainer.h"

namespace medley::cli {

/// Says of a run that it went on to more epochs, if it did.
void note_lengthened(const std::string& run, std::optional<std::int64_t> from, bool quiet);

/// Shows a run: a progress bar per epoch on a terminal, and a line after each.
class TrainConsole : public nn::TrainObserver {
 public:
  /// What is said after an epoch: a sentence, or the line of metrics.jsonl.
  enum class Lines : std::uint8_t { text, json };
  /// A bar is in the way of other runs that print as well.
  enum class Bar : std::uint8_t { shown, hidden };

  /// `label` starts every sentence.
  TrainConsole(std::string label, std::int64_t epochs, Lines lines, bool quiet,
               Bar bar = Bar::shown);

  void on_note(const std::string& sentence) override;
  void on_epoch_start(std::int64_t epoch, std::int64_t steps) override;
  void on_step(std::int64_t step, std::optional<double> loss) override;
  void on_epoch(const train::EpochMetrics& metrics) override;
  void on_profile(const nn::StepProfile& profile) override;
  bool stop() override;

  /// Why standard output takes no more lines; empty as long as it does. Training goes on without.
  [[nodiscard]] const std::string& output_problem() const noexcept { return output_problem_; }

 private:
  void print_line(const std::string& line);

  std::string label_;
  std::int64_t epochs_;
  Lines lines_;
  bool quiet_;
  Bar bar_;
  std::string output_problem_;
  std::optional<Progress> progress_;
};

}  // namespace medley::cli
