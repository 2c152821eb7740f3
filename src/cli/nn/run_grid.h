#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/nn/trainer.h"

namespace medley::cli {

/// A run of a grid.
struct GridRun {
  std::string model;  ///< empty: the recipe's
  std::string method;
  std::uint64_t seed = 0;
  std::optional<std::int64_t> lengthened_from = {};
  std::vector<train::EpochMetrics> metrics = {};  ///< once they are known
  std::string problem = {};                       ///< why it failed, empty if it did not

  /// "resnet8 hmix", or "hmix" for the recipe's network.
  [[nodiscard]] std::string name() const;
};

struct GridOptions {
  nn::TrainOptions common;  ///< of all runs; `out` has a folder for each
  std::int64_t parallel = 1;
  bool quiet = false;
};

/// Trains every run of a grid, several side by side, and fills in their metrics. Runs that are
/// finished are not repeated, and others go on. If a run finds no room on the device beside others,
/// it is left to those that have. One that fails is reported and the others go on; wrong arguments
/// and interrupts end all: throws what the run threw, once the others have stopped.
void run_grid(const GridOptions& options, const data::ImageData& data, std::vector<GridRun>& runs);

}  // namespace medley::cli
