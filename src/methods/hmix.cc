#include <algorithm>
#include <optional>

#include "methods/own_method.h"
#include "moments/box_moments.h"
#include "moments/lam_family.h"
#include "moments/mask_list.h"
#include "moments/moment_form.h"
#include "plan/beta.h"
#include "plan/box.h"

namespace medley {
namespace {

/// A box of relative area (1 - lam) r (hmix_sides) with M = 0, and one weight outside. Form `code`
/// takes the outside weight from the box that was really drawn, so the mean of every mask is lam;
/// form `paper` prints lam / (1 - (1 - lam) r), which is that only without rounding and clipping.
struct HMix {
  static constexpr std::string_view name = "hmix";
  static constexpr std::string_view title = "HMix";
  static constexpr std::string_view summary = "cutmix with a smaller box, mixup outside it";
  static constexpr std::string_view source =
      "Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation, 2022";

  LambdaDistribution lambda;
  Placement placement = Placement::clipped;
  Form form = Form::code;  ///< `calibrated` is `code`, which is calibrated already
  double ratio = 0.5;
  std::optional<double> gamma = {};

  static std::vector<OptionSpec> options() {
    return OptionTable<HMix>()
        .with(&HMix::lambda, LambdaDistribution::options())
        .add(&HMix::placement, "placement", kPlacementHelp)
        .add(&HMix::form, "form",
             "weights outside the box: of the published code or of the paper; calibrated is the "
             "same as code")
        .add(&HMix::ratio, "ratio",
             "share of 1-lam that the box carries: 0.5 for CIFAR, 0.75 for ImageNet in the paper",
             {.range = between(0, 1), .overridden_by = {"gamma"}})
        .add(&HMix::gamma, "gamma", "draw the ratio from Beta(gamma, gamma)",
             {.range = above(0), .absent = "the fixed ratio"});
  }

  MaskDraw draw(const UnitRandom& random, ImageSize size) const {
    const double lam = lambda.draw(random);
    double r = ratio;
    if (gamma) {
      RandomStream stream = random.stream(Purpose::branch);
      r = draw_beta(stream, *gamma, *gamma);
    }
    RandomStream stream = random.stream(Purpose::mask);
    BoxMask box = draw_box(stream, size, hmix_sides(size, 1 - lam, r), placement);
    box.outside = outside(lam, r, static_cast<double>(std::int64_t{box.height} * box.width),
                          static_cast<double>(size.pixels()));
    return {lam, box, realized_is_lam() ? lam : box_mean(box, size)};
  }

  void add_moments(theory::MomentForm& moments, bool effective, LabelRule label) const {
    using theory::LabelMoments;
    const theory::LamFamily lam(lambda, effective, label);
    const LabelMoments share =
        lam.label_moments(realized_is_lam() ? LabelMoments::fixed : LabelMoments::mean);
    const theory::BoxTable boxes = table(moments.size, lam);
    if (form == Form::paper) {
      theory::add_boxes(moments, boxes, placement, share,
                        [](const theory::BoxMoments& box, double /*area*/) { return box.scalars; });
      return;
    }
    theory::add_boxes_by_area(moments, boxes, placement, share,
                              [pixels = static_cast<double>(moments.size.pixels())](
                                  const theory::BoxMoments& box, double area) {
                                return code_scalars(box, area, pixels);
                              });
  }

  bool has_mask_list() const { return !gamma; }
  void list_masks(theory::MaskList& list, LabelRule label) const {
    const auto add = [&](double probability, double lam) {
      list.add_boxes(
          probability, hmix_sides(list.size(), 1 - lam, ratio), placement,
          [&](double area) { return outside(lam, ratio, area, list.pixels()); },
          realized_is_lam() ? lam : theory::drawn_label(label, lam));
    };
    if (lambda.lam) return add(1, *lambda.lam);
    const theory::LamFamily family(lambda, false, label);
    for (const auto& [from, to] : theory::equal_boxes(
             list.size(), ratio, theory::area_tolerance(family.alpha, family.beta))) {
      const auto nodes = form == Form::paper
                             ? theory::nodes_beside_pole(family, 1 - to, 1 - from, ratio)
                             : family.nodes(1 - to, 1 - from);
      for (const auto& [lam, probability] : nodes) add(probability, lam);
    }
  }

 private:
  /// Form `code` makes the mean of every mask lam.
  bool realized_is_lam() const { return form != Form::paper; }

  /// The weight outside a box that covers `area` of the pixels.
  double outside(double lam, double r, double area, double pixels) const {
    if (form == Form::paper) return paper_outside(lam, r, 1 - r);
    // Sides are rounded down, so the quotient exceeds 1 by rounding at most.
    return std::min(1.0, code_outside(lam, area, pixels));
  }

  static double code_outside(double lam, double area, double pixels) {
    return area < pixels ? lam * pixels / (pixels - area) : 0;
  }

  /// lam / (1 - (1 - lam) r) with rest = 1 - r, written so that ratio 1 gives exactly 1 and ratio 0
  /// exactly lam.
  static double paper_outside(double lam, double r, double rest) {
    const double below = lam * r + rest;
    return below > 0 ? lam / below : 1;  // lam = 0, ratio = 1: the limit, as in cutmix
  }

  theory::BoxTable table(ImageSize size, const theory::LamFamily& lam) const {
    theory::OutsideWeight paper = nullptr;
    if (form == Form::paper) {
      paper = [](double l, double rest) { return paper_outside(l, 1 - rest, rest); };
    }
    if (gamma) return theory::boxes_of_drawn_ratio(size, lam, *gamma, paper);
    if (!lam.fixed) return theory::drawn_boxes(size, lam, ratio, paper);
    return theory::one_box(hmix_sides(size, 1 - *lam.fixed, ratio), *lam.fixed, ratio, paper);
  }

  /// Scalars of form `code`, whose weight outside is kappa lam: p = 1 - kappa lam, q = kappa lam.
  static theory::ScalarMoments code_scalars(const theory::BoxMoments& box, double area,
                                            double pixels) {
    const double kappa = code_outside(1, area, pixels);
    const auto [m0, m1, m2] = box.lam;
    const double s = m0 - m1;
    const double sq = kappa * (m1 - m2);
    return {m0 - kappa * m1,
            kappa * m1,
            m0 - 2 * kappa * m1 + kappa * kappa * m2,
            kappa * m1 - kappa * kappa * m2,
            kappa * kappa * m2,
            s,
            s - sq,
            sq};
  }
};

}  // namespace

std::shared_ptr<const MethodBase> hmix_method() { return make_method<HMix>(); }

}  // namespace medley
