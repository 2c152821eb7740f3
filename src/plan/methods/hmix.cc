#include <algorithm>

#include "plan/beta.h"
#include "plan/box.h"
#include "plan/method.h"

namespace medley {
namespace {

constexpr double kAlpha = 1;

/// A box of relative area (1 - lam) r (hmix_sides) with M = 0, and one weight outside. Form `code`
/// takes the outside weight from the box that was really drawn, so the mean of every mask is lam;
/// form `paper` prints lam / (1 - (1 - lam) r), which is that only without rounding and clipping.
class HMix final : public MaskLaw {
 public:
  HMix(const MixPolicy& policy, ImageSize size)
      : lam_(policy, kAlpha),
        ratio_(policy.ratio),
        gamma_(policy.gamma),
        form_(form_of(policy)),
        placement_(policy.placement),
        size_(size) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> /*field*/,
                std::span<double> /*weights*/) const override {
    const double lam = lam_.draw(random);
    double ratio = ratio_;
    if (gamma_) {
      RandomStream stream = random.stream(Purpose::branch);
      ratio = draw_beta(stream, *gamma_, *gamma_);
    }
    RandomStream stream = random.stream(Purpose::mask);
    BoxMask box = draw_box(stream, size_, hmix_sides(size_, 1 - lam, ratio), placement_);
    if (form_ == Form::paper) {
      // 1 - (1 - lam) r, written so that ratio 1 gives exactly 1 outside and ratio 0 exactly lam.
      const double rest = lam * ratio + (1 - ratio);
      box.outside = rest > 0 ? lam / rest : 1;  // lam = 0, ratio = 1: the limit, as in cutmix
      return {lam, box, box_mean(box, size_), Resample::none};
    }
    const auto pixels = static_cast<double>(size_.pixels());
    const auto area = static_cast<double>(std::int64_t{box.height} * box.width);
    // Sides are rounded down, so the quotient exceeds 1 by rounding at most.
    box.outside = area < pixels ? std::min(1.0, lam * pixels / (pixels - area)) : 0;
    return {lam, box, lam, Resample::none};
  }

 private:
  LamLaw lam_;
  double ratio_;
  std::optional<double> gamma_;
  Form form_;
  Placement placement_;
  ImageSize size_;
};

}  // namespace

const MethodEntry registry::kHmix{
    {.name = "hmix",
     .summary = "cutmix with a smaller box, mixup outside it",
     .source = "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022",
     .default_alpha = kAlpha,
     .options = {{"alpha", "1"},
                 {"beta", "alpha"},
                 {"placement", "clipped"},
                 {"form", "code"},
                 {"ratio", "0.5"},
                 {"gamma", ""}}},
    [](const MixPolicy& policy, ImageSize size) -> std::unique_ptr<MaskLaw> {
      if (policy.form == Form::calibrated) {
        MixPolicy code = policy;  // the code form is calibrated already
        code.form = Form::code;
        return std::make_unique<HMix>(code, size);
      }
      return std::make_unique<HMix>(policy, size);
    }};

}  // namespace medley
