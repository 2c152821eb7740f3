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

[[nodiscard]] Image draw_accuracy(const std::vector<AccuracyPanel>& panels,
                                  const std::string& caption);

}  // namespace medley::cli
