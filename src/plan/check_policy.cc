#include "plan/check_policy.h"

#include <cmath>

#include <fmt/format.h>

#include "core/check.h"
#include "medley/gaussian_design.h"
#include "plan/enums.h"

namespace medley {
namespace {

constexpr double kMaxLam = 1e6;  // beyond, products with pixels lose all their digits

}  // namespace

void check_policy(const MixPolicy& p, const MethodInfo& info) {
  require_enumerator("placement", kPlacements, p.placement);
  if (p.form) require_enumerator("form", kForms, *p.form);
  require_enumerator("label", kLabelRules, p.label);
  require_enumerator("mode", kModes, p.mode);
  require_enumerator("pairing", kPairings, p.pairing);
  require_enumerator("classes", kClassRules, p.classes);
  require_enumerator("interpolation", kInterpolations, p.interpolation);
  if (p.alpha) require_positive("alpha", *p.alpha);
  if (p.beta) require_positive("beta", *p.beta);
  if (p.gamma) require_positive("gamma", *p.gamma);
  if (p.power) require_positive("power", *p.power);
  require_between("ratio", p.ratio, 0, 1);
  require_between("q_mix", p.q_mix, 0, 1);
  require_between("prob", p.prob, 0, 1);
  require_between("soft", p.soft, 0, 1);
  require_between("flip", p.augment.flip, 0, 1);
  if (!(std::isfinite(p.decay) && p.decay >= 0)) {
    fail_argument(fmt::format("decay must be >= 0, got {}", p.decay));
  }
  if (!(p.scale_min > 0 && p.scale_min <= p.scale_max && p.scale_max <= 1)) {
    fail_argument(
        fmt::format("scale_min and scale_max must satisfy 0 < min <= max <= 1, "
                    "got {} and {}",
                    p.scale_min, p.scale_max));
  }
  if (!(std::isfinite(p.sigma) && p.sigma >= 0 && p.sigma <= kMaxSigma)) {
    fail_argument(fmt::format("sigma must be in [0, {:g}], got {}", kMaxSigma, p.sigma));
  }
  require_positive("length", p.length);
  if (p.n < 2 || p.n > 1024) {
    fail_argument(fmt::format("n must be in [2, 1024], got {}", p.n));
  }
  if (p.augment.pad < 0 || p.augment.pad > kMaxSide) {
    fail_argument(fmt::format("pad must be in [0, {}], got {}", kMaxSide, p.augment.pad));
  }
  if (p.lam) {
    require_finite("lam", *p.lam);
    if (std::abs(*p.lam) > kMaxLam) {
      fail_argument(fmt::format("lam must be in [-{0:g}, {0:g}], got {1}", kMaxLam, *p.lam));
    }
    if (!info.unbounded_lam && !(*p.lam >= 0 && *p.lam <= 1)) {
      fail_argument(fmt::format("lam must be in [0, 1] for method {}, got {}", info.name, *p.lam));
    }
  }
  if (p.classes != ClassRule::any && p.pairing != Pairing::batch && p.pairing != Pairing::dataset) {
    fail_argument(fmt::format("{}_class needs pairing batch or dataset, got {}", name_of(p.classes),
                              name_of(p.pairing)));
  }
}

}  // namespace medley
