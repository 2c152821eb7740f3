#include "medley/theory/two_moons.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "core/check.h"

namespace medley::theory {
namespace {

constexpr std::int64_t kMoon = 50;

Glm glm_of(const PlaneModel& model) { return {Link::logistic, {model[0], model[1]}, model[2]}; }

double value(const TwoMoons& task, Objective objective, const PlaneModel& model,
             PlaneModel* gradient = nullptr) {
  return objective == Objective::exact ? task.exact(model, gradient)
                                       : task.approximate(model, gradient).approximate();
}

TrainingStep record(const TwoMoons& task, std::int64_t step, const PlaneModel& model) {
  return {step, model, task.exact(model), task.approximate(model).approximate()};
}

/// Derivatives of the gradient by central differences.
Eigen::Matrix3d hessian(const TwoMoons& task, Objective objective, const PlaneModel& model) {
  constexpr double kStep = 1e-5;
  Eigen::Matrix3d h;
  for (std::size_t k = 0; k < 3; ++k) {
    PlaneModel up = model, down = model, high = {}, low = {};
    up[k] += kStep;
    down[k] -= kStep;
    (void)value(task, objective, up, &high);
    (void)value(task, objective, down, &low);
    for (std::size_t j = 0; j < 3; ++j) {
      h(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)) =
          (high[j] - low[j]) / (2 * kStep);
    }
  }
  return (h + h.transpose()) / 2;
}

}  // namespace

TwoMoons::TwoMoons(std::string_view method, bool centered) {
  if (method != "mixup" && method != "bernoulli") {
    fail_argument(
        fmt::format("the two-moons task takes method mixup or bernoulli, got \"{}\"", method));
  }
  constexpr double kPi = 3.14159265358979323846;
  const double noise = 0.1 * std::sqrt(2.0);
  for (std::int64_t i = 0; i < 2 * kMoon; ++i) {
    const double t = kPi * static_cast<double>(i % kMoon) / (kMoon - 1);
    const bool second = i >= kMoon;
    const auto row = static_cast<double>(i + 1);
    x_.push_back((second ? 1 - std::cos(t) : std::cos(t)) + noise * std::sin(12.9898 * row));
    x_.push_back((second ? 0.5 - std::sin(t) : std::sin(t)) + noise * std::sin(78.233 * row));
    y_.push_back(second ? 1 : 0);
  }
  if (centered) {
    for (std::size_t k = 0; k < 2; ++k) {
      double mean = 0;
      for (std::size_t i = k; i < x_.size(); i += 2) mean += x_[i] / (2 * kMoon);
      for (std::size_t i = k; i < x_.size(); i += 2) x_[i] -= mean;
    }
  }
  const MixPolicy policy{.method = {std::string(method), {{"alpha", 1}}},
                         .label = LabelRule::drawn};
  const ImageSize features{1, 2};
  masks_ = enumerate_masks(policy, features);
  moments_ = coordinate_moments(effective_coefficients(policy, features));
}

Samples TwoMoons::samples() const { return {x_, 2 * kMoon, 2}; }

double TwoMoons::exact(const PlaneModel& model, PlaneModel* gradient) const {
  const std::span<double> slopes =
      gradient != nullptr ? std::span<double>(*gradient) : std::span<double>();
  return exact_loss(glm_of(model), samples(), y_, masks_, slopes);
}

LossTerms TwoMoons::approximate(const PlaneModel& model, PlaneModel* gradient) const {
  const std::span<double> slopes =
      gradient != nullptr ? std::span<double>(*gradient) : std::span<double>();
  return approximate_loss(glm_of(model), samples(), y_, moments_, slopes);
}

double TwoMoons::accuracy(const PlaneModel& model) const {
  int right = 0;
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const double score = model[0] * x_[2 * i] + model[1] * x_[2 * i + 1] + model[2];
    right += (score > 0) == (y_[i] > 0.5) ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(y_.size());
}

std::vector<TrainingStep> descend(const TwoMoons& task, Objective objective, std::int64_t steps,
                                  double rate, std::int64_t record_every) {
  if (steps < 0 || !(std::isfinite(rate) && rate > 0)) {
    fail_argument(fmt::format("steps must be >= 0 and the rate > 0, got {} and {}", steps, rate));
  }
  if (record_every < 1) {
    fail_argument(fmt::format("steps between records must be >= 1, got {}", record_every));
  }
  PlaneModel model = {};
  std::vector<TrainingStep> trace = {record(task, 0, model)};
  for (std::int64_t step = 1; step <= steps; ++step) {
    PlaneModel gradient = {};
    (void)value(task, objective, model, &gradient);
    for (std::size_t k = 0; k < 3; ++k) model[k] -= rate * gradient[k];
    if (step % record_every == 0 || step == steps) trace.push_back(record(task, step, model));
  }
  return trace;
}

TrainingStep minimize(const TwoMoons& task, Objective objective) {
  // Descent first: far from the minimum the approximate loss is not convex.
  PlaneModel model = descend(task, objective, 60, 1, 60).back().model;
  std::int64_t step = 0;
  for (; step < 60; ++step) {
    PlaneModel gradient = {};
    const double before = value(task, objective, model, &gradient);
    const Eigen::Vector3d g(gradient[0], gradient[1], gradient[2]);
    if (g.norm() < 1e-13) break;
    Eigen::Vector3d move = -hessian(task, objective, model).ldlt().solve(g);
    if (move.dot(g) >= 0) move = -g;
    PlaneModel next = model;
    for (int halvings = 0; halvings < 34; ++halvings) {
      for (std::size_t k = 0; k < 3; ++k) {
        next[k] = model[k] + std::ldexp(move(static_cast<Eigen::Index>(k)), -halvings);
      }
      if (value(task, objective, next) <= before + 1e-15) break;
    }
    const double change = std::max(
        {std::abs(next[0] - model[0]), std::abs(next[1] - model[1]), std::abs(next[2] - model[2])});
    model = next;
    if (change < 1e-12) break;
  }
  return record(task, step, model);
}

}  // namespace medley::theory
