#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/train/recipe.h"
#include "medley/train/run_folder.h"

namespace medley::nn {

struct TrainOptions {
  Recipe recipe;
  std::uint64_t seed = 0;
  std::string data_name = {};  ///< for result.json: "cifar100", …
  int threads = 0;             ///< 0: all cores
  std::filesystem::path out;
  std::filesystem::path weights;  ///< safetensors to start from; empty: drawn from the seed
  RunFolder::Existing existing = RunFolder::Existing::refuse;
  std::int64_t checkpoint_epochs = 1;  ///< a checkpoint after so many epochs …
  double checkpoint_minutes = 10;      ///< … and after so many minutes
};

/// Watches a run; only observers print.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  /// Something worth saying, a sentence: where a run goes on, a checkpoint that was passed over.
  virtual void on_note(const std::string& /*sentence*/) {}
  virtual void on_epoch_start(std::int64_t /*epoch*/, std::int64_t /*steps*/) {}
  virtual void on_step(std::int64_t /*step*/, double /*loss*/) {}
  virtual void on_epoch(const EpochMetrics& /*metrics*/) {}
  /// Asked after every step: true saves a checkpoint and ends the run.
  virtual bool stop() { return false; }
};

struct TrainResult {
  std::vector<EpochMetrics> metrics;  ///< of all epochs, those before a resume too
  bool stopped = false;               ///< by the observer
};

/// Trains, writing recipe.json, metrics.jsonl, event file, batch.png, checkpoints and, at the end,
/// weights.safetensors and result.json to `out`. The same seed, machine and number of threads give
/// the same bits, also if the run was killed and resumed. Throws InvalidArgument, IoError, and
/// Error if the loss is no longer a number; checkpoints that were written stay.
TrainResult train(const ImageData& data, const TrainOptions& options, TrainObserver& observer);

}  // namespace medley::nn
