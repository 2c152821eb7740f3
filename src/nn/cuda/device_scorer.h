#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "medley/cuda.h"
#include "medley/train/loader.h"
#include "nn/cuda/capture.h"
#include "nn/cuda/step_input.h"
#include "nn/model.h"

namespace medley::nn {

/// Share of images, in percent, whose class a network names first, and among the first five.
struct Hits {
  double top1 = 0;
  double top5 = 0;
};

/// Scores a network on images in device memory, spread evenly over their set: as `score`, with one
/// graph replayed per batch.
class DeviceScorer {
 public:
  /// All arguments outlive it.
  DeviceScorer(Model& model, const DeviceImages& images, std::int64_t count,
               const train::BatchLoader& loader, torch::ScalarType type, bool graph);

  /// Waits for the current stream.
  [[nodiscard]] Hits run();

 private:
  void score_batch(const cuda::DevicePlan& plan, const DeviceBatch& batch, cuda::StepIndex step);
  void score_full_batch();

  Model& model_;
  const DeviceImages& images_;
  MixOptions options_;
  bool graph_wanted_;
  std::int64_t count_;
  torch::Tensor step_;  // on the device
  torch::Tensor hits_;  // two counts, on the device
  std::optional<cuda::DevicePlan> plan_;
  std::optional<cuda::DevicePlan> short_plan_;
  std::optional<DeviceBatch> batch_;
  std::optional<DeviceBatch> short_batch_;
  Graph graph_;
};

}  // namespace medley::nn
