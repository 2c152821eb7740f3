#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "medley/nn/trainer.h"
#include "medley/train/recipe.h"
#include "nn/kernels/update.h"
#include "nn/model.h"
#include "nn/tensors.h"

namespace medley::nn {

/// Moves a network to the current GPU: channels last, its convolutions in bf16 if that is the
/// precision, everything else in f32. Returns what stands behind its tensors, in f32, by name;
/// tensors that are f32 themselves stand for themselves.
NamedTensors move_to_gpu(Model& model, Precision precision);

/// Copies values behind a network into the tensors that it works with.
void refresh(Model& model, const NamedTensors& values);

/// The parameters of a network on the GPU with all that the optimizer keeps: one kernel updates
/// everything.
class DeviceParameters {
 public:
  /// `values` is what `move_to_gpu` returned for the model.
  DeviceParameters(Model& model, NamedTensors values, const train::Recipe& recipe);

  [[nodiscard]] const NamedTensors& values() const noexcept { return values_; }
  /// As Stepper::state.
  [[nodiscard]] NamedTensors optimizer_state() const;
  /// Empty without ema.
  [[nodiscard]] NamedTensors average() const;

  /// To be called once values were changed from outside.
  void refresh_model() { refresh(model_, values_); }

  /// Learning rates of the steps of an epoch, the first of which that will be taken is `first`.
  void set_rates(const std::vector<double>& lr, std::int64_t first);
  /// One more update was enqueued; AdamW depends on their number.
  void count_update() { updates_.add_(1); }

  /// The next backward pass gives new gradients.
  void drop_gradients();
  /// Lets the update find the gradients where the last backward pass put them. Not while a graph
  /// is captured, but after that.
  void find_gradients();
  /// The gradients of all parameters; undefined where there is none.
  [[nodiscard]] std::vector<torch::Tensor> gradients() const;
  /// Makes these the gradients again, and lets the update find them.
  void put_back(const std::vector<torch::Tensor>& gradients);
  /// Enqueues the update with the rates of the step that `step` holds on the device.
  void update(const torch::Tensor& step);
  /// Does that for one weight in the current stream, if it is large; the next `update` leaves it
  /// out. Not where all gradients have to be known first.
  void update_early(const torch::Tensor& weight, const torch::Tensor& step);
  [[nodiscard]] bool can_update_early() const noexcept { return !(recipe_.clip_norm > 0); }

 private:
  /// Of the chunks.
  struct Range {
    std::int32_t begin = 0;
    std::int32_t count = 0;
  };

  [[nodiscard]] torch::Tensor clip_scale() const;
  void update_range(const Range& range, const torch::Tensor& step, const float* scale) const;

  Model& model_;
  train::Recipe recipe_;
  NamedTensors values_;
  std::vector<torch::Tensor> working_;  // tensors of the model, in the order of values_
  std::vector<torch::Tensor> first_;
  std::vector<torch::Tensor> second_;
  std::vector<torch::Tensor> average_;
  std::size_t parameters_ = 0;  // the first of values_; buffers follow
  torch::Tensor updates_;       // on the host
  std::vector<UpdateSlot> slots_;
  torch::Tensor device_slots_;
  torch::Tensor device_chunks_;  // of small tensors, then of large ones
  std::int32_t chunk_count_ = 0;
  std::int32_t small_count_ = 0;
  std::map<std::size_t, Range> large_;   // by number in values_
  std::set<std::size_t> updated_early_;  // since the last `update`
  torch::Tensor device_rates_;
  std::int64_t rate_count_ = 0;
};

}  // namespace medley::nn
