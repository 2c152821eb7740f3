#include <algorithm>

#include "methods/own_method.h"
#include "moments/box_moments.h"
#include "moments/lam_family.h"
#include "moments/mask_list.h"
#include "moments/moment_form.h"
#include "plan/box.h"

namespace medley {
namespace {

/// M = 0 in a box of relative area 1 - lam, 1 outside.
struct CutMix {
  static constexpr std::string_view name = "cutmix";
  static constexpr std::string_view title = "CutMix";
  static constexpr std::string_view summary = "pastes a box of the partner into the image";
  static constexpr std::string_view source =
      "Yun, Han, Oh, Chun, Choe, Yoo: CutMix: Regularization Strategy to Train Strong Classifiers "
      "with Localizable Features, 2019";

  LambdaDistribution lambda;
  Placement placement = Placement::clipped;

  static std::vector<OptionSpec> options() {
    return OptionTable<CutMix>()
        .with(&CutMix::lambda, LambdaDistribution::options())
        .add(&CutMix::placement, "placement", kPlacementHelp);
  }

  MaskDraw draw(const UnitRandom& random, ImageSize size) const {
    const double lam = lambda.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    const BoxMask box = draw_box(stream, size, box_sides(size, 1 - lam), placement);
    return {lam, box, box_mean(box, size)};
  }

  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const {
    theory::add_cut_boxes(form, theory::LamFamily(lambda, effective, label), placement);
  }

  void list_masks(theory::MaskList& list, LabelRule label) const {
    const auto add = [&](double probability, double lam) {
      list.add_boxes(
          probability, box_sides(list.size(), 1 - lam), placement, [](double) { return 1.0; },
          theory::drawn_label(label, lam));
    };
    if (lambda.lam) return add(1, *lambda.lam);
    const theory::LamFamily family(lambda, false, label);
    for (const auto& [from, to] :
         theory::equal_boxes(list.size(), 1, theory::area_tolerance(family.alpha, family.beta))) {
      // The mask is the same for the whole cell and the label affine: one lam stands for all. That
      // of a cell's end belongs to the sides of its inner part.
      const double mass = family.moment(1 - to, 1 - from, 0);
      if (!(mass > 0)) continue;
      add(mass, std::clamp(family.moment(1 - to, 1 - from, 1) / mass, 1 - to, 1 - from));
    }
  }
};

}  // namespace

std::shared_ptr<const MethodBase> cutmix_method() { return make_method<CutMix>(); }

}  // namespace medley
