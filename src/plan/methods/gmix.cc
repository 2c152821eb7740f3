#include <algorithm>
#include <optional>

#include "plan/gaussian.h"
#include "plan/method.h"

namespace medley {
namespace {

constexpr double kAlpha = 0.5;

/// A Gaussian bump around a uniform pixel; see GaussianMask for the kernel K.
///   code        K of width min(lam, 1-lam), for the image with the smaller share
///   paper       the partner's weight is K of width 2 (1-lam)
///   calibrated  the partner's weight is K, its width solved so that its mean is 1-lam
/// Of one row the width is that of a kernel along it: its mean is the same share of the pixels.
class GMix final : public MaskLaw {
 public:
  GMix(const MixPolicy& policy, ImageSize size)
      : lam_(policy, kAlpha), form_(form_of(policy)), realised_(policy.label), size_(size) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> /*field*/,
                std::span<double> /*weights*/) const override {
    const double lam = lam_.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    GaussianMask mask;
    mask.cy = static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(size_.height)));
    mask.cx = static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(size_.width)));
    if (form_ == Form::calibrated) return calibrated(lam, mask);
    if (form_ == Form::paper) {
      mask.tau = 2 * (1 - lam);
    } else if (lam < 0.5) {
      mask.tau = lam;
      mask.peak = Peak::own;
    } else {
      mask.tau = 1 - lam;
    }
    mask.tau = gaussian_tau(mask.tau, size_);
    // No bump at all: one image alone.
    if (!(mask.tau > 0)) return flat(lam, mask.peak == Peak::own ? 0 : 1);
    const double mean = realised_ == LabelRule::realised ? gaussian_kernel_mean(mask, size_) : 0;
    return {lam, mask, mask.peak == Peak::own ? mean : 1 - mean, Resample::none};
  }
  // A mean or a width over the pixels of a row and of a column takes about a microsecond.
  std::int64_t draws_per_thread() const override { return 128; }

 private:
  static MaskDraw flat(double lam, double value) {
    return {lam, FlatMask{value}, value, Resample::none};
  }

  [[nodiscard]] MaskDraw calibrated(double lam, GaussianMask mask) const {
    const std::optional<double> tau = calibrated_tau(mask.cy, mask.cx, size_, lam);
    if (!tau) return flat(lam, lam);
    mask.tau = *tau;
    const double least = 1.0 / static_cast<double>(size_.pixels());
    return {lam, mask, std::min(lam, 1 - least), Resample::none};
  }

  LamLaw lam_;
  Form form_;
  LabelRule realised_;
  ImageSize size_;
};

}  // namespace

const MethodEntry registry::kGmix{
    {.name = "gmix",
     .summary = "fades the partner in around a point, with a Gaussian edge",
     .source = "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022",
     .default_alpha = kAlpha,
     .options = {{"alpha", "0.5"}, {"beta", "alpha"}, {"form", "code"}}},
    [](const MixPolicy& policy, ImageSize size) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<GMix>(policy, size);
    }};

}  // namespace medley
