#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/portable_math.h"
#include "methods/own_method.h"
#include "moments/lam_family.h"
#include "moments/moment_form.h"
#include "plan/beta.h"

namespace medley {
namespace {

/// A weighted sum of n samples. Weights: Dirichlet(alpha, ..., alpha), or the zeta-mixup series
/// k^-power in random order. A fixed lam is the own weight; the partners share the rest.
struct NMixup {
  static constexpr std::string_view name = "nmixup";
  static constexpr std::string_view title = "NMixup";
  static constexpr std::string_view summary =
      "blends n images; Dirichlet weights, or zeta-mixup's power series";
  static constexpr std::string_view source =
      "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022; Abhishek, "
      "Brown, Hamarneh: Multi-sample zeta-mixup, 2024";
  static constexpr bool in_place = false;
  static constexpr bool flat = true;

  double alpha = 1;
  std::int32_t n = 3;
  std::optional<double> power = {};
  std::optional<double> lam = {};

  static std::vector<OptionSpec> options() {
    return OptionTable<NMixup>()
        .add(&NMixup::alpha, "alpha", "weights are drawn from Dirichlet(alpha, ..., alpha)",
             {.range = above(0), .overridden_by = {"power"}})
        .add(&NMixup::n, "n", "images per output", {.range = between(2, 1024)})
        .add(&NMixup::power, "power", "zeta-mixup weights k^-power in random order",
             {.range = above(0), .absent = "Dirichlet(alpha)"})
        .add(&NMixup::lam, "lam", "a fixed share of the own image, which may be any number",
             {.range = between(-1e6, 1e6), .absent = "drawn"});
  }

  [[nodiscard]] std::int32_t sources() const { return n; }

  /// The masks are the own weight. Without a fixed one it is a Beta variate if there are two.
  bool has_moments(bool effective) const {
    return !effective || lam.has_value() || (n == 2 && !power);
  }
  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const {
    const theory::LamFamily family({.alpha = alpha, .lam = lam}, effective, label);
    form.add_lambda(family.moments(0, 1), family.label_moments(theory::LabelMoments::fixed));
  }

  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const;
};

class NMixupMasks final : public MaskSampler {
 public:
  explicit NMixupMasks(const NMixup& options)
      : n_(options.n), alpha_(options.alpha), fixed_(options.lam) {
    if (!options.power) return;
    double sum = 0;
    const std::int32_t terms = fixed_ ? n_ - 1 : n_;
    for (std::int32_t k = 1; k <= terms; ++k) {
      series_.push_back(exp_nonpositive(-*options.power * log_positive(k)));
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
    return {weights[0], FlatMask{weights[0]}, weights[0]};
  }
  bool lists_terms() const override { return true; }
  std::int32_t sources() const override { return n_; }

 private:
  std::int32_t n_;
  double alpha_;
  std::optional<double> fixed_;
  std::vector<double> series_;
};

std::unique_ptr<MaskSampler> NMixup::bind(ImageSize /*size*/, LabelRule /*label*/) const {
  return std::make_unique<NMixupMasks>(*this);
}

}  // namespace

std::shared_ptr<const MethodBase> nmixup_method() { return make_method<NMixup>(); }

}  // namespace medley
