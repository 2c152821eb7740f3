#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/gaussian_design.h"
#include "plan/method.h"

namespace medley {
namespace {

constexpr double kAlpha = 1;

/// Gaussian masks with prescribed first and second moments (Theorem 2), not clipped. Without a
/// design of the caller's: mean lam, standard deviation sigma, smooth over `length`.
class GaussianField final : public MaskLaw {
 public:
  GaussianField(const MixPolicy& policy, ImageSize size) : lam_(policy, kAlpha) {
    if (!policy.design) {
      design_ = std::make_shared<GaussianDesign>(
          GaussianDesign::smooth(size, policy.sigma, policy.length, 0));
      return;
    }
    design_ = policy.design;
    if (!(design_->size() == size)) {
      fail_argument(fmt::format("the design is for {}x{} masks, but the images are {}x{}",
                                design_->size().height, design_->size().width, size.height,
                                size.width));
    }
    const double lam = 1 - design_->mean();
    if (policy.lam && std::abs(*policy.lam - lam) > 1e-9) {
      fail_argument(fmt::format("the design fixes lam to {}, got lam {}", lam, *policy.lam));
    }
    design_lam_ = lam;
  }

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> /*weights*/) const override {
    const double lam = design_lam_ ? *design_lam_ : lam_.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    std::vector<double> z(static_cast<std::size_t>(design_->dimension()));
    for (double& value : z) value = stream.normal();
    std::vector<double> mask(field.size());
    design_->mask(z, design_lam_ ? 0 : lam - 1, mask);
    for (std::size_t i = 0; i < mask.size(); ++i) field[i] = static_cast<float>(mask[i]);
    return {lam, FieldMask{}, field_mean(field), Resample::none};
  }
  bool makes_field() const override { return true; }

 private:
  LamLaw lam_;
  std::shared_ptr<const GaussianDesign> design_;
  std::optional<double> design_lam_;
};

}  // namespace

const MethodEntry registry::kGaussianField{
    {.name = "gaussian-field",
     .summary = "unbounded Gaussian masks with the moments you ask for",
     .source = "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022 "
               "(Theorem 2, corrected)",
     .default_alpha = kAlpha,
     .unbounded_lam = true,
     .options = {{"alpha", "1"},
                 {"beta", "alpha"},
                 {"sigma", "0.25"},
                 {"length", "0.25"},
                 {"design", ""}}},
    [](const MixPolicy& policy, ImageSize size) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<GaussianField>(policy, size);
    }};

}  // namespace medley
