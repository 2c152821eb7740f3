#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "core/portable_math.h"
#include "plan/beta.h"
#include "plan/method.h"

namespace medley {
namespace {

constexpr double kAlpha = 1;

/// A weighted sum of n samples. Weights: Dirichlet(alpha, ..., alpha), or the zeta-mixup series
/// k^-power in random order. A fixed lam is the own weight; the partners share the rest.
class NMixup final : public MaskLaw {
 public:
  explicit NMixup(const MixPolicy& policy)
      : n_(policy.n), alpha_(policy.alpha.value_or(kAlpha)), fixed_(policy.lam) {
    if (!policy.power) return;
    double sum = 0;
    const std::int32_t terms = fixed_ ? n_ - 1 : n_;
    for (std::int32_t k = 1; k <= terms; ++k) {
      series_.push_back(exp_nonpositive(-*policy.power * log_positive(k)));
      sum += series_.back();
    }
    for (double& weight : series_) weight /= sum;
  }

  MaskDraw draw(const UnitRandom& random, std::span<float> /*field*/,
                std::span<double> weights) const override {
    RandomStream stream = random.stream(Purpose::lam);
    const std::span<double> drawn = fixed_ ? weights.subspan(1) : weights;
    if (series_.empty()) {
      draw_dirichlet(stream, alpha_, drawn);
    } else {
      std::copy(series_.begin(), series_.end(), drawn.begin());
      for (std::size_t i = drawn.size(); i > 1; --i) {
        std::swap(drawn[i - 1], drawn[stream.below(static_cast<std::uint32_t>(i))]);
      }
    }
    if (fixed_) {
      weights[0] = *fixed_;
      for (double& weight : drawn) weight *= 1 - *fixed_;
    }
    return {weights[0], FlatMask{weights[0]}, weights[0], Resample::none};
  }
  bool lists_terms() const override { return true; }
  std::int32_t sources() const override { return n_; }

 private:
  std::int32_t n_;
  double alpha_;
  std::optional<double> fixed_;
  std::vector<double> series_;
};

}  // namespace

const MethodEntry registry::kNmixup{
    {.name = "nmixup",
     .summary = "blends n images; Dirichlet weights, or zeta-mixup's power series",
     .source = "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022; "
               "Abhishek, Brown, Hamarneh: Multi-sample zeta-mixup, 2024",
     .default_alpha = kAlpha,
     .unbounded_lam = true,
     .in_place = false,
     .options = {{"alpha", "1"}, {"n", "3"}, {"power", ""}}},
    [](const MixPolicy& policy, ImageSize) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<NMixup>(policy);
    }};

}  // namespace medley
