#include "nn/learn.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace medley::nn {
namespace {

using torch::Tensor;

/// Sum over the terms of weight * values[class], for each sample.
Tensor weighted_at(const Tensor& values, const LabelTensors& labels) {
  return (values.gather(1, labels.classes) * labels.weights).sum(1);
}

/// With smoothing e a class has e/C besides its share of 1-e.
Tensor cross_entropy(const Tensor& logits, const LabelTensors& labels, double smoothing) {
  const Tensor log_p = torch::log_softmax(logits, 1);
  Tensor loss = -weighted_at(log_p, labels);
  if (smoothing > 0) loss = (1 - smoothing) * loss - smoothing * log_p.mean(1);
  return loss.mean();
}

/// Mean over batch and classes of -[t log p + (1-t) log(1-p)]. The targets are sums over terms, so
/// this is -[sum of log(1-p) + sum over terms of weight * (log p - log(1-p)) at its class].
Tensor bce_softmax(const Tensor& logits, const LabelTensors& labels, double smoothing) {
  constexpr double kLargest = 1 - 0x1p-24;  // log(1-p) stays finite
  const Tensor log_p = torch::log_softmax(logits, 1);
  const Tensor log_rest = torch::log1p(-log_p.exp().clamp_max(kLargest));
  const Tensor gain = log_p - log_rest;
  Tensor hit = weighted_at(gain, labels);
  if (smoothing > 0) hit = (1 - smoothing) * hit + smoothing * gain.mean(1);
  return -(log_rest.sum(1) + hit).mean() / logits.size(1);
}

class Sgd : public Stepper {
 public:
  Sgd(const train::Recipe& recipe, NamedTensors parameters)
      : momentum_(recipe.momentum),
        nesterov_(recipe.nesterov),
        decay_(recipe.weight_decay),
        parameters_(std::move(parameters)) {
    for (const auto& [name, p] : parameters_) velocity_.push_back(torch::zeros_like(p).detach());
  }
  void step(double lr) override {
    torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Tensor p = parameters_[i].second;
      if (!p.grad().defined()) continue;
      Tensor gradient = decay_ > 0 ? p.grad().add(p, decay_) : p.grad();
      if (momentum_ > 0) {
        Tensor& v = velocity_[i];
        v.mul_(momentum_).add_(gradient);
        gradient = nesterov_ ? gradient.add(v, momentum_) : v;
      }
      p.add_(gradient, -lr);
    }
  }
  [[nodiscard]] NamedTensors state() const override {
    NamedTensors state;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      state.emplace_back("velocity." + parameters_[i].first, velocity_[i]);
    }
    return state;
  }

 private:
  double momentum_;
  bool nesterov_;
  double decay_;
  NamedTensors parameters_;
  std::vector<Tensor> velocity_;
};

class AdamW : public Stepper {
 public:
  AdamW(const train::Recipe& recipe, NamedTensors parameters)
      : beta1_(recipe.momentum),
        beta2_(recipe.beta2),
        decay_(recipe.weight_decay),
        parameters_(std::move(parameters)),
        steps_(torch::zeros({}, torch::kInt64)) {
    for (const auto& [name, p] : parameters_) {
      first_.push_back(torch::zeros_like(p).detach());
      second_.push_back(torch::zeros_like(p).detach());
    }
  }
  void step(double lr) override {
    constexpr double kEpsilon = 1e-8;
    torch::NoGradGuard no_grad;
    steps_.add_(1);
    const auto t = static_cast<double>(steps_.item<std::int64_t>());
    const double bias1 = 1 - std::pow(beta1_, t);
    const double bias2 = 1 - std::pow(beta2_, t);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Tensor p = parameters_[i].second;
      if (!p.grad().defined()) continue;
      p.mul_(1 - lr * decay_);
      first_[i].mul_(beta1_).add_(p.grad(), 1 - beta1_);
      second_[i].mul_(beta2_).addcmul_(p.grad(), p.grad(), 1 - beta2_);
      p.addcdiv_(first_[i], second_[i].sqrt().div_(std::sqrt(bias2)).add_(kEpsilon), -lr / bias1);
    }
  }
  [[nodiscard]] NamedTensors state() const override {
    NamedTensors state = {{"steps", steps_}};
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      state.emplace_back("first." + parameters_[i].first, first_[i]);
      state.emplace_back("second." + parameters_[i].first, second_[i]);
    }
    return state;
  }

 private:
  double beta1_;
  double beta2_;
  double decay_;
  NamedTensors parameters_;
  std::vector<Tensor> first_, second_;
  Tensor steps_;
};

}  // namespace

Tensor loss_of(const Tensor& logits, const LabelTensors& labels, train::Loss loss,
               double smoothing) {
  return loss == train::Loss::bce_softmax ? bce_softmax(logits, labels, smoothing)
                                          : cross_entropy(logits, labels, smoothing);
}

std::unique_ptr<Stepper> make_stepper(const train::Recipe& recipe, const NamedTensors& parameters) {
  if (recipe.optimizer == train::Optimizer::adamw)
    return std::make_unique<AdamW>(recipe, parameters);
  return std::make_unique<Sgd>(recipe, parameters);
}

std::int64_t batches_of_update(const train::Recipe& recipe, std::int64_t step, std::int64_t steps) {
  return std::min(recipe.accumulate, steps - step / recipe.accumulate * recipe.accumulate);
}

void clip_gradients(const NamedTensors& parameters, double most) {
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (const auto& [name, p] : parameters) {
    if (p.grad().defined()) sum += p.grad().square().sum().item<double>();
  }
  const double norm = std::sqrt(sum);
  if (!(norm > most)) return;
  for (const auto& [name, p] : parameters) {
    if (p.grad().defined()) p.grad().mul_(most / norm);
  }
}

}  // namespace medley::nn
