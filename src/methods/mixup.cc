#include "methods/own_method.h"
#include "moments/lam_family.h"
#include "moments/mask_list.h"
#include "moments/moment_form.h"

namespace medley {
namespace {

/// M = lam everywhere.
struct Mixup {
  static constexpr std::string_view name = "mixup";
  static constexpr std::string_view summary = "blends two images with one weight for all pixels";
  static constexpr std::string_view source =
      "Zhang, Cisse, Dauphin, Lopez-Paz: mixup: Beyond Empirical Risk Minimization, 2018";
  static constexpr bool flat = true;

  LambdaDistribution lambda;

  static std::vector<OptionSpec> options() {
    return OptionTable<Mixup>().with(&Mixup::lambda, LambdaDistribution::options(true));
  }

  MaskDraw draw(const UnitRandom& random, ImageSize /*size*/) const {
    const double lam = lambda.draw(random);
    return {lam, FlatMask{lam}, lam};
  }

  void add_moments(theory::MomentForm& form, bool effective, LabelRule label) const {
    const theory::LamFamily lam(lambda, effective, label);
    form.add_lambda(lam.moments(0, 1), lam.label_moments(theory::LabelMoments::fixed));
  }

  void list_masks(theory::MaskList& list, LabelRule label) const {
    for (const auto& [lam, probability] : theory::LamFamily(lambda, false, label).smooth_nodes()) {
      list.add_flat(probability, lam, lam);
    }
  }
};

}  // namespace

std::shared_ptr<const MethodBase> mixup_method() { return make_method<Mixup>(); }

}  // namespace medley
