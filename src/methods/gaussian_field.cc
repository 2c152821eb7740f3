#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/gaussian_design.h"
#include "methods/own_method.h"
#include "moments/lam_family.h"
#include "moments/moment_form.h"

namespace medley {
namespace {

/// Gaussian masks with prescribed first and second moments (Theorem 2), not clipped. Without a
/// design of the caller's: mean lam, standard deviation sigma, smooth over `length`.
struct GaussianField {
  static constexpr std::string_view name = "gaussian-field";
  static constexpr std::string_view summary =
      "unbounded Gaussian masks with the moments you ask for";
  static constexpr std::string_view source =
      "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022 (Theorem 2, "
      "corrected)";

  LambdaDistribution lambda;
  double sigma = 0.25;
  double length = 0.25;
  std::shared_ptr<const GaussianDesign> design = {};

  static std::vector<OptionSpec> options() {
    std::vector<OptionSpec> lambda_options = LambdaDistribution::options(true);
    for (OptionSpec& option : lambda_options) {
      if (option.name != "lam") option.rules.overridden_by.emplace_back("design");
    }
    return OptionTable<GaussianField>()
        .with(&GaussianField::lambda, std::move(lambda_options))
        .add(&GaussianField::sigma, "sigma", "standard deviation of the mask around lam",
             {.range = between(0, kMaxSigma), .overridden_by = {"design"}})
        .add(&GaussianField::length, "length", "correlation length as a share of the image side",
             {.range = above(0), .overridden_by = {"design"}})
        .add(&GaussianField::design, "design",
             "mean and second moments (medley.design/1) instead of sigma and length");
  }

  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const;

  bool has_moments(bool /*effective*/) const { return design == nullptr; }
  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const {
    using theory::AxisLaw;
    theory::MomentForm::Block& block = form.blocks.emplace_back();
    const auto along = [&](std::int32_t n) {
      return AxisLaw::noise(n, smooth_correlation(n, length));
    };
    block.rows.push_back(along(form.size.height));
    block.columns.push_back(along(form.size.width));
    const theory::LamFamily lam(lambda, effective, label);
    const auto [m0, m1, m2] = lam.moments(0, 1);
    const double share = m0 - m1;
    const double share2 = m0 - 2 * m1 + m2;
    form.add(block, 0, 0,
             {share, sigma * m0, share2, sigma * share, sigma * sigma * m0, share, share2,
              sigma * share},
             lam.label_moments(theory::LabelMoments::mean));
  }
};

class GaussianFieldMasks final : public MaskSampler {
 public:
  GaussianFieldMasks(const GaussianField& options, ImageSize size) : lambda_(options.lambda) {
    if (!options.design) {
      design_ = std::make_shared<GaussianDesign>(
          GaussianDesign::smooth(size, options.sigma, options.length, 0));
      return;
    }
    design_ = options.design;
    if (!(design_->size() == size)) {
      fail_argument(fmt::format("the design is for {}x{} masks, but the images are {}x{}",
                                design_->size().height, design_->size().width, size.height,
                                size.width));
    }
    const double lam = 1 - design_->mean();
    if (lambda_.lam && std::abs(*lambda_.lam - lam) > 1e-9) {
      fail_argument(fmt::format("the design fixes lam to {}, got lam {}", lam, *lambda_.lam));
    }
    design_lam_ = lam;
  }

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> /*weights*/) const override {
    const double lam = design_lam_ ? *design_lam_ : lambda_.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    std::vector<double> z(static_cast<std::size_t>(design_->dimension()));
    for (double& value : z) value = stream.normal();
    std::vector<double> mask(field.size());
    design_->mask(z, design_lam_ ? 0 : lam - 1, mask);
    for (std::size_t i = 0; i < mask.size(); ++i) field[i] = static_cast<float>(mask[i]);
    return {lam, FieldMask{}, field_mean(field)};
  }
  bool makes_field() const override { return true; }

 private:
  LambdaDistribution lambda_;
  std::shared_ptr<const GaussianDesign> design_;
  std::optional<double> design_lam_;
};

std::unique_ptr<MaskSampler> GaussianField::bind(ImageSize size, LabelRule /*label*/) const {
  return std::make_unique<GaussianFieldMasks>(*this, size);
}

}  // namespace

std::shared_ptr<const MethodBase> gaussian_field_method() { return make_method<GaussianField>(); }

}  // namespace medley
