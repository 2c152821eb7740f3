#include "medley/theory/loss.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/plan.h"
#include "medley/random.h"
#include "medley/sampler.h"
#include "theory/check_loss.h"
#include "theory/effective_mask.h"

namespace medley::theory {
namespace {

double norm(std::span<const double> v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return std::sqrt(sum);
}

/// Step for differences along u, relative to the input.
double step_along(std::span<const double> x, std::span<const double> u, double relative) {
  const double size = norm(u);
  return size > 0 ? relative * std::max(norm(x), 1.0) / size : 1;
}

std::vector<double> moved(std::span<const double> x, std::span<const double> u, double t) {
  std::vector<double> result(x.begin(), x.end());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += t * u[i];
  return result;
}

double log_sum_exp(std::span<const double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - largest);
  return largest + std::log(sum);
}

void check_call(const Model& model, const Samples& samples, std::span<const double> labels) {
  check_samples(samples);
  if (model.inputs() != samples.dimension || model.classes() < 1 ||
      std::ssize(labels) != samples.count * model.classes()) {
    fail_argument(fmt::format(
        "a model of {} inputs and {} classes and {} samples of dimension {} need {} label values, "
        "got {}",
        model.inputs(), model.classes(), samples.count, samples.dimension,
        samples.count * model.classes(), labels.size()));
  }
}

/// The Taylor jet of a sample's loss.
class Jet {
 public:
  Jet(const Model& model, std::span<const double> x, std::span<const double> y)
      : model_(model),
        x_(x),
        y_(y),
        scores_(static_cast<std::size_t>(model.classes())),
        p_(scores_.size()),
        first_(scores_.size()),
        second_(scores_.size()) {
    model.value(x, scores_);
    const double total = log_sum_exp(scores_);
    for (std::size_t c = 0; c < p_.size(); ++c) p_[c] = std::exp(scores_[c] - total);
    plain_ = total;
    for (std::size_t c = 0; c < p_.size(); ++c) plain_ -= y[c] * scores_[c];
  }

  [[nodiscard]] double plain() const { return plain_; }

  /// Adds `weight` times the terms of first and second order along u.
  void add(std::span<const double> u, double weight, LossTerms& terms) {
    model_.jvp(x_, u, first_);
    model_.hvp(x_, u, second_);
    double mean = 0, square = 0, r1 = 0, r3 = 0;
    for (std::size_t c = 0; c < p_.size(); ++c) {
      mean += p_[c] * first_[c];
      square += p_[c] * first_[c] * first_[c];
      r1 += (p_[c] - y_[c]) * first_[c];
      r3 += (p_[c] - y_[c]) * second_[c];
    }
    terms.r1 += weight * r1;
    terms.r2 += weight * (square - mean * mean) / 2;
    terms.r3 += weight * r3 / 2;
  }

  /// Both branches of a mask: u = N (r - x) with weight w, u = M (r - x) with weight 1 - w.
  void add_branches(std::span<const double> partner, std::span<const double> own_weights,
                    double label_weight, double weight, LossTerms& terms) {
    std::vector<double> u(x_.size());
    for (const bool swapped : {false, true}) {
      for (std::size_t j = 0; j < u.size(); ++j) {
        const double m = own_weights[j % own_weights.size()];
        u[j] = (swapped ? m : 1 - m) * (partner[j] - x_[j]);
      }
      add(u, weight * (swapped ? 1 - label_weight : label_weight), terms);
    }
  }

 private:
  const Model& model_;
  std::span<const double> x_;
  std::span<const double> y_;
  std::vector<double> scores_, p_, first_, second_;
  double plain_ = 0;
};

std::span<const double> label_row(std::span<const double> labels, std::int64_t i,
                                  std::int64_t classes) {
  return labels.subspan(static_cast<std::size_t>(i * classes), static_cast<std::size_t>(classes));
}

}  // namespace

void Model::jvp(std::span<const double> x, std::span<const double> u,
                std::span<double> scores) const {
  constexpr double kStep = 6e-6;  // cube root of the rounding: errors near 1e-10
  const double h = step_along(x, u, kStep);
  std::vector<double> low(scores.size());
  value(moved(x, u, h), scores);
  value(moved(x, u, -h), low);
  for (std::size_t c = 0; c < low.size(); ++c) scores[c] = (scores[c] - low[c]) / (2 * h);
}

void Model::hvp(std::span<const double> x, std::span<const double> u,
                std::span<double> scores) const {
  constexpr double kStep = 1e-3;  // errors near 1e-7 of the fourth derivative
  const double h = step_along(x, u, kStep);
  std::vector<double> low(scores.size());
  std::vector<double> middle(scores.size());
  value(moved(x, u, h), scores);
  value(x, middle);
  value(moved(x, u, -h), low);
  for (std::size_t c = 0; c < low.size(); ++c) {
    scores[c] = (scores[c] - 2 * middle[c] + low[c]) / (h * h);
  }
}

std::vector<WeightedMask> for_channels(std::vector<WeightedMask> masks, std::int32_t channels) {
  if (channels < 1) fail_argument(fmt::format("channels must be > 0, got {}", channels));
  for (WeightedMask& mask : masks) {
    const std::vector<double> one = mask.own;
    for (std::int32_t c = 1; c < channels; ++c) {
      mask.own.insert(mask.own.end(), one.begin(), one.end());
    }
  }
  return masks;
}

double exact_loss(const Model& model, const Samples& samples, std::span<const double> labels,
                  std::span<const WeightedMask> masks) {
  check_call(model, samples, labels);
  check_masks(masks, samples.dimension);
  const std::int64_t classes = model.classes();
  std::vector<double> mixed(static_cast<std::size_t>(samples.dimension));
  std::vector<double> scores(static_cast<std::size_t>(classes));
  double loss = 0;
  for (const WeightedMask& mask : masks) {
    for (std::int64_t i = 0; i < samples.count; ++i) {
      for (std::int64_t k = 0; k < samples.count; ++k) {
        const auto own = samples.row(i);
        const auto partner = samples.row(k);
        for (std::size_t j = 0; j < mixed.size(); ++j) {
          const double m = mask.own[j];
          mixed[j] = m * own[j] + (1 - m) * partner[j];
        }
        model.value(mixed, scores);
        double one = log_sum_exp(scores);
        const auto own_label = label_row(labels, i, classes);
        const auto partner_label = label_row(labels, k, classes);
        for (std::size_t c = 0; c < scores.size(); ++c) {
          one -= scores[c] *
                 (mask.label_weight * own_label[c] + (1 - mask.label_weight) * partner_label[c]);
        }
        loss += mask.probability * one;
      }
    }
  }
  return loss / static_cast<double>(samples.count) / static_cast<double>(samples.count);
}

LossTerms approximate_loss(const Model& model, const Samples& samples,
                           std::span<const double> labels, std::span<const WeightedMask> masks) {
  check_call(model, samples, labels);
  check_masks(masks, samples.dimension);
  LossTerms terms;
  const auto m = static_cast<double>(samples.count);
  for (std::int64_t i = 0; i < samples.count; ++i) {
    Jet jet(model, samples.row(i), label_row(labels, i, model.classes()));
    terms.plain += jet.plain() / m;
    for (std::int64_t k = 0; k < samples.count; ++k) {
      if (k == i) continue;  // no difference, no contribution
      for (const WeightedMask& mask : masks) {
        jet.add_branches(samples.row(k), mask.own, mask.label_weight, mask.probability / (m * m),
                         terms);
      }
    }
  }
  return terms;
}

LossEstimate estimate_loss(const Model& model, const Samples& samples,
                           std::span<const double> labels, const MixPolicy& policy, ImageSize size,
                           std::int64_t draws, std::uint64_t seed) {
  check_call(model, samples, labels);
  check_has_effective_mask(policy);
  if (draws < 2) fail_argument(fmt::format("draws must be at least 2, got {}", draws));
  MixPolicy own = policy;
  own.mode = Mode::sample;
  own.pairing = Pairing::dataset;
  own.classes = ClassRule::any;
  own.no_self = false;
  own.augment = {};
  const Sampler sampler(std::move(own), size, seed);
  if (samples.dimension % size.pixels() != 0) {
    fail_argument(fmt::format("inputs of {} numbers are not whole channels of {}x{}",
                              samples.dimension, size.height, size.width));
  }
  LossEstimate result;
  for (std::int64_t i = 0; i < samples.count; ++i) {
    const Jet jet(model, samples.row(i), label_row(labels, i, model.classes()));
    result.terms.plain += jet.plain() / static_cast<double>(samples.count);
  }
  LossTerms squares;
  std::vector<double> mask(static_cast<std::size_t>(size.pixels()));
  RandomStream random(seed, 0, 0, Purpose::shuffle);
  const auto any = [&] {
    return static_cast<std::int64_t>(random.below64(static_cast<std::uint64_t>(samples.count)));
  };
  const auto n = static_cast<double>(draws);
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    PlanRequest request;
    request.batch = 1;
    request.first = draw;
    request.dataset_size = draws;
    const MixPlan plan = sampler.plan(request);
    const MixEntry& entry = plan.entries.front();
    mask_values(plan, entry, mask);
    const std::int64_t i = any();
    Jet jet(model, samples.row(i), label_row(labels, i, model.classes()));
    LossTerms one;
    jet.add_branches(samples.row(any()), mask, entry.label_weight, 1, one);
    for (double LossTerms::*term : {&LossTerms::r1, &LossTerms::r2, &LossTerms::r3}) {
      result.terms.*term += one.*term / n;
      squares.*term += one.*term * one.*term / n;
    }
  }
  for (double LossTerms::*term : {&LossTerms::r1, &LossTerms::r2, &LossTerms::r3}) {
    const double mean = result.terms.*term;
    result.errors.*term = std::sqrt(std::max(0.0, squares.*term - mean * mean) / (n - 1));
  }
  return result;
}

}  // namespace medley::theory
