#pragma once

#include <string>
#include <utility>
#include <vector>

#include "medley/data/image.h"

namespace medley::cli {

/// Methods side by side in one chart: name, and test accuracy after every epoch.
struct AccuracyPanel {
  std::string title;
  std::vector<std::pair<std::string, std::vector<double>>> methods;
};

/// From the epoch `first` on, which is at least 1.
[[nodiscard]] Image draw_accuracy(const std::vector<AccuracyPanel>& panels,
                                  const std::string& caption, std::size_t first = 1);

}  // namespace medley::cli
