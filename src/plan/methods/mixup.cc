#include "plan/method.h"

namespace medley {
namespace {

constexpr double kAlpha = 1;

/// M = lam everywhere.
class Mixup final : public MaskLaw {
 public:
  explicit Mixup(const MixPolicy& policy) : lam_(policy, kAlpha) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> /*field*/,
                std::span<double> /*weights*/) const override {
    const double lam = lam_.draw(random);
    return {lam, FlatMask{lam}, lam, Resample::none};
  }

 private:
  LamLaw lam_;
};

}  // namespace

const MethodEntry registry::kMixup{
    {.name = "mixup",
     .summary = "blends two images with one weight for all pixels",
     .source = "Zhang, Cisse, Dauphin, Lopez-Paz: mixup: Beyond Empirical Risk Minimization, 2018",
     .default_alpha = kAlpha,
     .unbounded_lam = true,
     .options = {{"alpha", "1"}, {"beta", "alpha"}}},
    [](const MixPolicy& policy, ImageSize) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<Mixup>(policy);
    }};

}  // namespace medley
