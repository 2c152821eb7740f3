#include <utility>

#include "methods/own_method.h"
#include "moments/mask_list.h"
#include "moments/moment_form.h"

namespace medley {
namespace {

/// Mixup with probability q_mix, else CutMix.
struct Stochastic {
  static constexpr std::string_view name = "stochastic";
  static constexpr std::string_view summary = "mixup with probability q_mix, else cutmix";
  static constexpr std::string_view source =
      "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022";
  static constexpr bool mixture = true;

  LambdaDistribution lambda;
  Placement placement = Placement::clipped;
  double q_mix = 0.5;

  static std::vector<OptionSpec> options() {
    return OptionTable<Stochastic>()
        .with(&Stochastic::lambda, LambdaDistribution::options())
        .add(&Stochastic::placement, "placement", kPlacementHelp)
        .add(&Stochastic::q_mix, "q_mix", "probability of mixup rather than cutmix",
             {.range = between(0, 1)});
  }

  [[nodiscard]] Method mixup() const {
    return Method("mixup", {{"alpha", lambda.alpha}, {"beta", lambda.beta}, {"lam", lambda.lam}});
  }
  [[nodiscard]] Method cutmix() const {
    return Method("cutmix", {{"alpha", lambda.alpha},
                             {"beta", lambda.beta},
                             {"lam", lambda.lam},
                             {"placement", placement}});
  }

  class Masks final : public MaskSampler {
   public:
    Masks(double q_mix, std::unique_ptr<MaskSampler> mixup, std::unique_ptr<MaskSampler> cutmix)
        : q_mix_(q_mix), mixup_(std::move(mixup)), cutmix_(std::move(cutmix)) {}

    MaskDraw draw(const UnitRandom& random, std::span<float> field,
                  std::span<double> weights) const override {
      const bool mixup = random.stream(Purpose::branch).uniform() < q_mix_;
      return (mixup ? mixup_ : cutmix_)->draw(random, field, weights);
    }

   private:
    double q_mix_;
    std::unique_ptr<MaskSampler> mixup_;
    std::unique_ptr<MaskSampler> cutmix_;
  };
  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const {
    return std::make_unique<Masks>(q_mix, mixup().bind(size, label), cutmix().bind(size, label));
  }

  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const {
    add_both(form, [&](const MethodBase& part) { part.add_moments(form, effective, label); });
  }
  void list_masks(theory::MaskList& list, LabelRule label) const {
    add_both(list, [&](const MethodBase& part) { part.list_masks(list, label); });
  }

 private:
  template <typename Sum, typename Add>
  void add_both(Sum& sum, Add add) const {
    const double all = sum.weight;
    sum.weight = all * q_mix;
    add(mixup().base());
    sum.weight = all * (1 - q_mix);
    add(cutmix().base());
    sum.weight = all;
  }
};

}  // namespace

std::shared_ptr<const MethodBase> stochastic_method() { return make_method<Stochastic>(); }

}  // namespace medley
