#include "plan/box.h"
#include "plan/method.h"

namespace medley {
namespace {

constexpr double kAlpha = 1;

/// M = 0 in a box of relative area 1 - lam, 1 outside.
class CutMix final : public MaskLaw {
 public:
  CutMix(const MixPolicy& policy, ImageSize size)
      : lam_(policy, kAlpha), placement_(policy.placement), size_(size) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> /*field*/,
                std::span<double> /*weights*/) const override {
    const double lam = lam_.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    const BoxMask box = draw_box(stream, size_, box_sides(size_, 1 - lam), placement_);
    return {lam, box, box_mean(box, size_), Resample::none};
  }

 private:
  LamLaw lam_;
  Placement placement_;
  ImageSize size_;
};

}  // namespace

const MethodEntry registry::kCutmix{
    {.name = "cutmix",
     .summary = "pastes a box of the partner into the image",
     .source = "Yun, Han, Oh, Chun, Choe, Yoo: CutMix: Regularization Strategy to Train Strong "
               "Classifiers with Localizable Features, 2019",
     .default_alpha = kAlpha,
     .options = {{"alpha", "1"}, {"beta", "alpha"}, {"placement", "clipped"}}},
    [](const MixPolicy& policy, ImageSize size) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<CutMix>(policy, size);
    }};

}  // namespace medley
