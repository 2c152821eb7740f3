#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "medley/data/dataset.h"
#include "medley/nn/trainer.h"
#include "medley/train/loader.h"
#include "nn/run_result.h"
#include "nn/tensors.h"
#include "train/run_folder.h"

namespace medley::nn {

/// The arithmetic of a run on one kind of device: a network, its optimizer and their steps. What
/// happens when is the trainer's business. Steps may still be under way when `take_step` returns;
/// everything that reads a result waits for them. An engine serves the thread that made it.
class Engine {
 public:
  virtual ~Engine() = default;

  /// What a checkpoint has to hold, by name, in f32. Values may be copied into these tensors before
  /// `begin`.
  [[nodiscard]] virtual NamedTensors weights() const = 0;
  [[nodiscard]] virtual NamedTensors optimizer() const = 0;
  /// Of the weights; empty without ema.
  [[nodiscard]] virtual NamedTensors average() const = 0;

  /// Before the first step that follows `weights`, `optimizer` or `average` being written to.
  virtual void begin() = 0;
  /// Before the steps of an epoch from `step` on; `loss_sum` is what the earlier ones came to.
  virtual void begin_epoch(std::uint64_t epoch, std::int64_t step, double loss_sum) = 0;
  /// The next step of the epoch. Returns the loss of a recent step, if one is known without
  /// waiting.
  virtual std::optional<double> take_step(std::int64_t step, double lr) = 0;
  /// Sum of the losses of the images of this epoch so far.
  [[nodiscard]] virtual double loss_sum() = 0;
  /// Tests the network on unmixed images.
  [[nodiscard]] virtual train::Score score() = 0;
  /// Where the time of a step goes, after at least one epoch.
  [[nodiscard]] virtual StepProfile profile() = 0;
  /// None on a CPU.
  [[nodiscard]] virtual std::optional<Gpu> gpu() const = 0;
};

/// What engines are made from; all of it outlives them.
struct EngineParts {
  const data::ImageData& data;
  const TrainOptions& options;
  train::BatchLoader& loader;
};

[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(const EngineParts& parts);

/// Throws InvalidArgument if this build has no CUDA, CudaError if there is no device.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(const EngineParts& parts);

}  // namespace medley::nn
