#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "train/run_folder.h"

namespace medley::test {

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Weights of a finished run, and metrics without what depends on the clock.
inline std::string bits_of_run(const std::filesystem::path& folder) {
  std::string text = bytes_of(folder / "weights.safetensors");
  for (const train::EpochMetrics& m : train::read_metrics(folder / "metrics.jsonl")) {
    text += fmt::format("{} {} {}", m.epoch, m.lr, m.train_loss);
    if (m.score) {
      text += fmt::format(" {} {} {}", m.score->test_top1, m.score->test_top5,
                          m.score->clean_train_top1);
    }
    text += '\n';
  }
  return text;
}

}  // namespace medley::test
