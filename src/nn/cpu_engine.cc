#include <array>
#include <chrono>
#include <utility>

#include "nn/engine.h"
#include "nn/learn.h"
#include "nn/model.h"
#include "nn/scorer.h"

namespace medley::nn {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds up the time between marks, by part of a step.
class StepClock {
 public:
  enum Part : std::uint8_t { load, forward, backward, optimizer, parts };

  void start() { last_ = Clock::now(); }
  void mark(Part part) {
    const Clock::time_point now = Clock::now();
    seconds_[part] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  void end_step() { ++steps_; }

  [[nodiscard]] StepProfile profile() const {
    const auto ms = [&](Part part) {
      return steps_ == 0 ? 0 : 1e3 * seconds_[part] / static_cast<double>(steps_);
    };
    StepProfile profile;
    profile.parts = {{"load+mix", ms(load)},
                     {"forward", ms(forward)},
                     {"backward", ms(backward)},
                     {"optimizer", ms(optimizer)}};
    for (const auto& [name, time] : profile.parts) profile.ms_per_step += time;
    return profile;
  }

 private:
  Clock::time_point last_;
  std::array<double, parts> seconds_{};
  std::int64_t steps_ = 0;
};

class CpuEngine : public Engine {
 public:
  explicit CpuEngine(const EngineParts& parts)
      : data_(parts.data),
        recipe_(parts.options.recipe),
        seed_(parts.options.seed),
        loader_(parts.loader) {
    model_ = new_model();
    for (const auto& item : model_->named_parameters()) {
      parameters_.emplace_back(item.key(), item.value());
    }
    stepper_ = make_stepper(recipe_, parameters_);
    if (recipe_.ema > 0) {
      for (const auto& [name, tensor] : state_of(*model_)) {
        average_.emplace_back(name, tensor.detach().clone());
      }
    }
  }

  [[nodiscard]] NamedTensors weights() const override { return state_of(*model_); }
  [[nodiscard]] NamedTensors optimizer() const override { return stepper_->state(); }
  [[nodiscard]] NamedTensors average() const override { return average_; }
  void begin() override {}

  void begin_epoch(std::uint64_t epoch, std::int64_t /*step*/, double loss_sum) override {
    epoch_ = epoch;
    order_ = loader_.order(epoch);
    loss_sum_ = loss_sum;
    model_->train();
  }

  std::optional<double> take_step(std::int64_t step, double lr) override {
    clock_.start();
    const std::int64_t count = loader_.batch_size(step);
    const torch::Tensor batch = empty_batch(loader_.shape(count));
    const MixedLabels mixed = loader_.load(epoch_, step, order_, view_of(batch));
    const LabelTensors labels = tensors_of(mixed, count);
    clock_.mark(StepClock::load);
    const torch::Tensor loss =
        loss_of(model_->forward(batch), labels, recipe_.loss, recipe_.smoothing);
    const auto value = loss.item<double>();
    clock_.mark(StepClock::forward);
    (loss / batches_of_update(recipe_, step, loader_.steps())).backward();
    clock_.mark(StepClock::backward);
    const bool last = step + 1 == loader_.steps();
    if ((step + 1) % recipe_.accumulate == 0 || last) update(lr);
    clock_.mark(StepClock::optimizer);
    clock_.end_step();
    loss_sum_ += value * static_cast<double>(count);
    return value;
  }

  double loss_sum() override { return loss_sum_; }

  train::Score score() override {
    const std::int64_t count = data_.test.count();
    const auto of = [&](Model& model, const data::ImageSet& images) {
      return nn::score(model, images, count, data_.num_classes(), loader_);
    };
    const Accuracy test = of(*model_, data_.test);
    train::Score score{test.top1, test.top5, of(*model_, data_.train).top1, {}};
    if (!average_.empty()) score.ema_test_top1 = of(*averaged_model(), data_.test).top1;
    return score;
  }

  StepProfile profile() override { return clock_.profile(); }
  [[nodiscard]] std::optional<Gpu> gpu() const override { return {}; }

 private:
  [[nodiscard]] std::shared_ptr<Model> new_model() const {
    auto model = make_model(recipe_.model, data_.num_classes(), data_.train.shape.channels, seed_);
    to_channels_last(*model);
    return model;
  }

  static LabelTensors tensors_of(const MixedLabels& mixed, std::int64_t count) {
    return {torch::tensor(mixed.classes, torch::kInt64).view({count, mixed.terms}),
            torch::tensor(mixed.weights, torch::kFloat64)
                .to(torch::kFloat32)
                .view({count, mixed.terms})};
  }

  void update(double lr) {
    if (recipe_.clip_norm > 0) clip_gradients(parameters_, recipe_.clip_norm);
    stepper_->step(lr);
    for (auto& [name, p] : parameters_) p.mutable_grad().reset();
    if (average_.empty()) return;
    torch::NoGradGuard no_grad;
    const NamedTensors state = state_of(*model_);
    for (std::size_t i = 0; i < state.size(); ++i) {
      torch::Tensor& average = average_[i].second;
      if (average.is_floating_point()) {
        average.mul_(recipe_.ema).add_(state[i].second, 1 - recipe_.ema);
      } else {
        average.copy_(state[i].second);
      }
    }
  }

  [[nodiscard]] std::shared_ptr<Model> averaged_model() const {
    auto copy = new_model();
    torch::NoGradGuard no_grad;
    const NamedTensors state = state_of(*copy);
    for (std::size_t i = 0; i < state.size(); ++i) {
      torch::Tensor(state[i].second).copy_(average_[i].second);
    }
    return copy;
  }

  const data::ImageData& data_;
  const train::Recipe& recipe_;
  std::uint64_t seed_;
  train::BatchLoader& loader_;
  std::shared_ptr<Model> model_;
  NamedTensors parameters_;
  std::unique_ptr<Stepper> stepper_;
  NamedTensors average_;  // empty without ema
  std::uint64_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  double loss_sum_ = 0;
  StepClock clock_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(const EngineParts& parts) {
  return std::make_unique<CpuEngine>(parts);
}

}  // namespace medley::nn
