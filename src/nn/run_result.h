#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "medley/nn/trainer.h"
#include "medley/train/result.h"
#include "train/run_record.h"

namespace medley::nn {

struct Gpu {
  std::string name;
  std::string cuda;  ///< version
};

/// Of convolutions, as a run with these options has it.
[[nodiscard]] std::string_view precision_of(const TrainOptions& options);

/// What goes into result.json; without a GPU the run was on the CPU.
[[nodiscard]] train::RunResult result_of(const data::ImageData& data, const TrainOptions& options,
                                         const std::vector<train::EpochMetrics>& metrics,
                                         const std::optional<Gpu>& gpu = {});

/// What goes into run.json, as far as the options say it: without the hash of the weights.
[[nodiscard]] train::RunRecord record_of(const TrainOptions& options);

}  // namespace medley::nn
