#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/options.h"
#include "medley/train/recipe.h"
#include "medley/train/result.h"

namespace medley::nn {

/// The networks that can be trained, smallest first.
[[nodiscard]] std::vector<std::string_view> model_names();

/// Throws InvalidArgument for an unknown network, with the one that was likely meant, or all.
void check_model(const std::string& name);

/// Number of trainable parameters. Throws InvalidArgument as check_model does.
[[nodiscard]] std::int64_t parameter_count(const std::string& model, std::int64_t classes);

/// Where networks run.
enum class Device : std::uint8_t { cpu, cuda };

/// Of convolutions on a GPU: bf16 with f32 weights behind it, f32 on tensor cores (which round the
/// inputs of products to tf32), or plain f32. A CPU always has f32.
enum class Precision : std::uint8_t { bf16, tf32, f32 };
/// Their names.
inline constexpr std::array<std::string_view, 3> kPrecisionNames = {"bf16", "tf32", "f32"};
/// The same, for tables of options.
constexpr std::span<const std::string_view> enum_names(Precision /*unused*/) noexcept {
  return kPrecisionNames;
}

/// What to train, and how to run it.
struct TrainOptions {
  train::Recipe recipe;
  std::uint64_t seed = 0;
  std::string data_name = {};  ///< for result.json: "cifar100", …
  // For run.json; a run that goes on keeps the command that began it:
  train::DataChoice data = {};
  std::vector<std::string> command = {};
  int threads = 0;  ///< 0: all cores
  std::filesystem::path out;
  std::filesystem::path weights;  ///< safetensors to start from; empty: drawn from the seed
  train::ExistingRun existing = train::ExistingRun::refuse;
  std::int64_t checkpoint_epochs = 1;  ///< a checkpoint after so many epochs …
  double checkpoint_minutes = 10;      ///< … and after so many minutes
  Device device = Device::cpu;
  // On a GPU:
  Precision precision = Precision::bf16;
  bool no_graph = false;       ///< launch each kernel of each step, not one captured CUDA graph
  bool deterministic = false;  ///< the same bits every time, with slower algorithms
  bool profile = false;        ///< tell the observer where the time of a step goes
};

/// How a run is made, beside its recipe and its data: precision, no_graph, deterministic, profile,
/// checkpoint_epochs, checkpoint_minutes, as fields of TrainOptions.
[[nodiscard]] const std::vector<OptionSpec>& run_options();

/// Throws InvalidArgument if recipe, threads or checkpoints make no sense, as `train` does.
void check_options(const TrainOptions& options);

/// Whether this build can train on that device, and the machine has one.
[[nodiscard]] bool is_available(Device device);

/// Where the time of a step goes: in milliseconds, with parts by name.
struct StepProfile {
  double ms_per_step = 0;
  std::vector<std::pair<std::string, double>> parts;
};

/// Watches a run; only observers print.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  /// Something worth saying, a sentence: where a run goes on, a checkpoint that was passed over.
  virtual void on_note(const std::string& /*sentence*/) {}
  /// `epoch` is from 1; `steps` are those of the epoch.
  virtual void on_epoch_start(std::int64_t /*epoch*/, std::int64_t /*steps*/) {}
  /// `loss` is that of a recent step; a GPU does not always know one yet.
  virtual void on_step(std::int64_t /*step*/, std::optional<double> /*loss*/) {}
  /// Once the epoch's checkpoint and metrics are on disk.
  virtual void on_epoch(const train::EpochMetrics& /*metrics*/) {}
  /// After the first epoch, if it was asked for.
  virtual void on_profile(const StepProfile& /*profile*/) {}
  /// Asked after every step: true saves a checkpoint and ends the run.
  virtual bool stop() { return false; }
};

/// What training gave, beside the files.
struct TrainResult {
  std::vector<train::EpochMetrics> metrics;  ///< of all epochs, those before a resume too
  bool stopped = false;                      ///< by the observer
  /// As in RunResult.
  std::optional<std::int64_t> lengthened_from = {};
};

/// Trains, writing recipe.json, run.json, metrics.jsonl, event file, batch.png, checkpoints and, at
/// the end, weights.safetensors and result.json to `out`, which no other run can use meanwhile. The
/// same seed, machine and number of threads give the same bits, also if the run was killed and
/// resumed; a GPU only promises this with `deterministic`. Throws InvalidArgument, IoError,
/// CudaError (DeviceMemoryError if only memory is missing), and Error if the loss is no longer a
/// number; checkpoints that were written stay.
TrainResult train(const data::ImageData& data, const TrainOptions& options,
                  TrainObserver& observer);

}  // namespace medley::nn
