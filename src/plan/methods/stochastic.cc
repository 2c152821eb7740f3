#include "plan/method.h"

namespace medley {
namespace {

/// Mixup with probability q_mix, else CutMix.
class Stochastic final : public MaskLaw {
 public:
  Stochastic(const MixPolicy& policy, ImageSize size)
      : q_mix_(policy.q_mix),
        mixup_(registry::kMixup.make(policy, size)),
        cutmix_(registry::kCutmix.make(policy, size)) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> weights) const override {
    const bool mixup = random.stream(Purpose::branch).uniform() < q_mix_;
    return (mixup ? mixup_ : cutmix_)->draw(random, field, weights);
  }

 private:
  double q_mix_;
  std::unique_ptr<MaskLaw> mixup_;
  std::unique_ptr<MaskLaw> cutmix_;
};

}  // namespace

const MethodEntry registry::kStochastic{
    {.name = "stochastic",
     .summary = "mixup with probability q_mix, else cutmix",
     .source = "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022",
     .default_alpha = 1,
     .options = {{"alpha", "1"}, {"beta", "alpha"}, {"placement", "clipped"}, {"q_mix", "0.5"}}},
    [](const MixPolicy& policy, ImageSize size) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<Stochastic>(policy, size);
    }};

}  // namespace medley
