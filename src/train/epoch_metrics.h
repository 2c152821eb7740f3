#pragma once

#include <cstdint>

#include "train/json_fields.h"
#include "train/run_folder.h"

namespace medley::train {

/// The metrics of epoch number `epoch`, as they stand in metrics.jsonl, results and checkpoints,
/// where they have their wall time. Throws IoError with the field.
[[nodiscard]] EpochMetrics epoch_metrics(JsonFields& fields, std::int64_t epoch);

}  // namespace medley::train
