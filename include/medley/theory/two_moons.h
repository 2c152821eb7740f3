#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "medley/theory/loss.h"

namespace medley::theory {

/// Slopes and bias of a linear model on the plane.
using PlaneModel = std::array<double, 3>;

/// The experiment of the paper on two half moons of 50 points each, with a fixed disturbance: how
/// well the expansion follows the mixed loss of a logistic regression, lam ~ Beta(1, 1).
class TwoMoons {
 public:
  /// `method` is mixup or bernoulli; `centered` subtracts the mean of the points. Throws
  /// InvalidArgument for another method.
  explicit TwoMoons(std::string_view method, bool centered = true);

  /// The points; valid as long as this is.
  [[nodiscard]] Samples samples() const;
  /// 0 or 1 for every point.
  [[nodiscard]] const std::vector<double>& labels() const noexcept { return y_; }

  /// The mixed loss over all pairs, lam integrated; `gradient` if not null.
  [[nodiscard]] double exact(const PlaneModel& model, PlaneModel* gradient = nullptr) const;
  /// Its expansion, and the gradient of that.
  [[nodiscard]] LossTerms approximate(const PlaneModel& model,
                                      PlaneModel* gradient = nullptr) const;
  /// Share of the points on their side.
  [[nodiscard]] double accuracy(const PlaneModel& model) const;

 private:
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<WeightedMask> masks_;
  CoordinateMoments moments_;
};

/// Which of the two losses is trained on.
enum class Objective : std::uint8_t { exact, approximate };

/// A model on the way, with both losses.
struct TrainingStep {
  std::int64_t step = 0;
  PlaneModel model = {};
  double exact = 0;
  double approximate = 0;
};

/// Plain gradient descent from 0; losses are recorded before the first step, after every
/// `record_every` steps and after the last.
[[nodiscard]] std::vector<TrainingStep> descend(const TwoMoons& task, Objective objective,
                                                std::int64_t steps, double rate = 1,
                                                std::int64_t record_every = 1);

/// The minimizer, by Newton steps.
[[nodiscard]] TrainingStep minimize(const TwoMoons& task, Objective objective);

}  // namespace medley::theory
