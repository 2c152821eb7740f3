#include <fmt/format.h>

#include "core/check.h"
#include "methods/own_method.h"
#include "moments/box_moments.h"
#include "moments/lam_family.h"
#include "moments/moment_form.h"
#include "plan/box.h"

namespace medley {
namespace {

/// The whole partner, shrunk to tau times its sides, pasted into the image; tau is uniform on
/// [scale_min, scale_max] and lam = 1 - tau^2.
struct ResizeMix {
  static constexpr std::string_view name = "resizemix";
  static constexpr std::string_view title = "ResizeMix";
  static constexpr std::string_view summary = "pastes the whole partner, shrunk, into the image";
  static constexpr std::string_view source =
      "Qin, Fang, Zhang, Liu, Wang, Wang: ResizeMix: Mixing Data with Preserved Object Information "
      "and True Labels, 2020";
  static constexpr bool in_place = false;

  std::optional<double> lam = {};
  double scale_min = 0.1;
  double scale_max = 0.8;
  Placement placement = Placement::clipped;
  Interpolation interpolation = Interpolation::bilinear;

  static std::vector<OptionSpec> options() {
    return OptionTable<ResizeMix>()
        .add(&ResizeMix::scale_min, "scale_min", "least side of the box, as a share of the image's",
             {.overridden_by = {"lam"}})
        .add(&ResizeMix::scale_max, "scale_max", "greatest side, at most 1",
             {.overridden_by = {"lam"}})
        .add(&ResizeMix::placement, "placement", kPlacementHelp)
        .add(&ResizeMix::interpolation, "interpolation", "how the partner is shrunk")
        .add(&ResizeMix::lam, "lam", "a fixed share of the own image",
             {.range = between(0, 1), .absent = "drawn"});
  }

  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule /*label*/) const {
    if (!(scale_min > 0 && scale_min <= scale_max && scale_max <= 1)) {
      fail_argument(
          fmt::format("scale_min and scale_max must satisfy 0 < min <= max <= 1, got {} and {}",
                      scale_min, scale_max));
    }
    return std::make_unique<StructSampler<ResizeMix>>(*this, size);
  }

  MaskDraw draw(const UnitRandom& random, ImageSize size) const {
    double area = 0;
    if (lam) {
      area = 1 - *lam;
    } else {
      const double u = random.stream(Purpose::lam).uniform();
      const double tau = scale_min + u * (scale_max - scale_min);
      area = tau * tau;
    }
    RandomStream stream = random.stream(Purpose::mask);
    const BoxMask box = draw_box(stream, size, box_sides(size, area), placement);
    const bool nearest = interpolation == Interpolation::nearest;
    return {lam.value_or(1 - area), box, box_mean(box, size),
            nearest ? Resample::nearest : Resample::bilinear};
  }

  bool has_moments(bool effective) const { return !effective || lam.has_value(); }
  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const {
    theory::add_cut_boxes(form, theory::LamFamily({.lam = lam}, effective, label), placement);
  }
};

}  // namespace

std::shared_ptr<const MethodBase> resizemix_method() { return make_method<ResizeMix>(); }

}  // namespace medley
