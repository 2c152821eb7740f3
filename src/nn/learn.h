#pragma once

#include <memory>
#include <vector>

#include <torch/torch.h>

#include "medley/train/recipe.h"
#include "nn/tensors.h"

namespace medley::nn {

/// Mixed class labels as tensors: B×terms classes (int64) and weights (f32), rows summing to 1.
struct LabelTensors {
  torch::Tensor classes;
  torch::Tensor weights;
};

/// Mean loss of a batch of logits, without a B×C matrix of targets.
[[nodiscard]] torch::Tensor loss_of(const torch::Tensor& logits, const LabelTensors& labels,
                                    train::Loss loss, double smoothing);

/// Changes parameters by their gradients. Its whole state is in `state()`.
class Stepper {
 public:
  virtual ~Stepper() = default;
  virtual void step(double lr) = 0;
  [[nodiscard]] virtual NamedTensors state() const = 0;
};

[[nodiscard]] std::unique_ptr<Stepper> make_stepper(const train::Recipe& recipe,
                                                    const NamedTensors& parameters);

/// Batches whose gradients the update after `step` averages: fewer than accumulate at the end of an
/// epoch of `steps` steps.
[[nodiscard]] std::int64_t batches_of_update(const train::Recipe& recipe, std::int64_t step,
                                             std::int64_t steps);

/// Scales gradients so that their common norm is at most `most`.
void clip_gradients(const NamedTensors& parameters, double most);

}  // namespace medley::nn
