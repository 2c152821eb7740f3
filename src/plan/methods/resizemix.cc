#include "plan/box.h"
#include "plan/method.h"

namespace medley {
namespace {

/// The whole partner, shrunk to tau times its sides, pasted into the image; tau is uniform on
/// [scale_min, scale_max] and lam = 1 - tau^2.
class ResizeMix final : public MaskLaw {
 public:
  ResizeMix(const MixPolicy& policy, ImageSize size)
      : fixed_(policy.lam),
        scale_min_(policy.scale_min),
        scale_max_(policy.scale_max),
        placement_(policy.placement),
        resample_(policy.interpolation == Interpolation::nearest ? Resample::nearest
                                                                 : Resample::bilinear),
        size_(size) {}

  MaskDraw draw(const UnitRandom& random, std::span<float> /*field*/,
                std::span<double> /*weights*/) const override {
    double area = 0;
    if (fixed_) {
      area = 1 - *fixed_;
    } else {
      const double u = random.stream(Purpose::lam).uniform();
      const double tau = scale_min_ + u * (scale_max_ - scale_min_);
      area = tau * tau;
    }
    RandomStream stream = random.stream(Purpose::mask);
    const BoxMask box = draw_box(stream, size_, box_sides(size_, area), placement_);
    return {fixed_.value_or(1 - area), box, box_mean(box, size_), resample_};
  }

 private:
  std::optional<double> fixed_;
  double scale_min_;
  double scale_max_;
  Placement placement_;
  Resample resample_;
  ImageSize size_;
};

}  // namespace

const MethodEntry registry::kResizemix{
    {.name = "resizemix",
     .summary = "pastes the whole partner, shrunk, into the image",
     .source = "Qin, Fang, Zhang, Liu, Wang, Wang: ResizeMix: Mixing Data with Preserved Object "
               "Information and True Labels, 2020",
     .in_place = false,
     .options = {{"scale_min", "0.1"},
                 {"scale_max", "0.8"},
                 {"placement", "clipped"},
                 {"interpolation", "bilinear"}}},
    [](const MixPolicy& policy, ImageSize size) -> std::unique_ptr<MaskLaw> {
      return std::make_unique<ResizeMix>(policy, size);
    }};

}  // namespace medley
