#pragma once

#include <string>
#include <utility>
#include <vector>

#include "medley/data/image.h"
#include "medley/train/result.h"

namespace medley::cli {

/// Methods side by side in one chart: name, and test accuracy by epoch.
struct AccuracyPanel {
  std::string title;
  std::vector<std::pair<std::string, std::vector<train::EpochAccuracy>>> methods;
};

/// From the epoch `first` on, which is at least 1.
[[nodiscard]] data::Image draw_accuracy(const std::vector<AccuracyPanel>& panels,
                                        const std::string& caption, std::int64_t first = 1);

}  // namespace medley::cli
