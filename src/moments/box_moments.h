#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "medley/policy.h"
#include "moments/lam_family.h"
#include "moments/moment_form.h"

namespace medley::theory {

/// The tolerance of the areas of boxes, kAreaTolerance of plan/box.h; 0 where lambdas that small
/// are negligible.
[[nodiscard]] double area_tolerance(double alpha, double beta);

/// Intervals of x that make up [0, 1], in order; within each, a box of relative area x * most keeps
/// its sides. most in [0, 1].
[[nodiscard]] std::vector<Interval> equal_boxes(ImageSize size, double most, double tolerance);

/// The weight outside a box as a function of lam and of rest = 1 - ratio; of a ratio close to 1
/// only the rest has all digits. Smooth but for a pole where lam (1 - rest) + rest is 0.
using OutsideWeight = double (*)(double lam, double rest);

/// Nodes of lam on [lo, hi] for such a weight, which changes fast where lam is about 1 - ratio.
[[nodiscard]] std::vector<Node> nodes_beside_pole(const LamFamily& lam, double lo, double hi,
                                                  double ratio);

/// What is integrated over the lambdas (and ratios) that give a box the same sides.
struct BoxMoments {
  LambdaMoments lam;
  ScalarMoments scalars;  ///< with the OutsideWeight, if there is one
};

/// Height and width of a box.
using Sides = std::pair<std::int32_t, std::int32_t>;
using BoxTable = std::map<Sides, BoxMoments>;

/// Boxes of one lam and ratio.
[[nodiscard]] BoxTable one_box(ImageSize sides, double lam, double ratio, OutsideWeight outside);

/// Boxes of relative area (1 - lam) * ratio, for drawn lambdas: cells of constant sides, whose
/// moments of lam are exact.
[[nodiscard]] BoxTable drawn_boxes(ImageSize size, const LamFamily& lam, double ratio,
                                   OutsideWeight outside);

/// The same for ratio ~ Beta(gamma, gamma) and drawn or fixed lambdas.
[[nodiscard]] BoxTable boxes_of_drawn_ratio(ImageSize size, const LamFamily& lam, double gamma,
                                            OutsideWeight outside);

/// Scalars of the masks N = p + q b c of boxes with b c = 1 on `area` pixels.
using BoxScalars = std::function<ScalarMoments(const BoxMoments&, double area)>;

/// Adds the boxes of a table. `area` is that of the sides, before clipping.
void add_boxes(MomentForm& form, const BoxTable& table, Placement placement, LabelMoments label,
               const BoxScalars& scalars);

/// The same for scalars that follow the area that clipping leaves, by the moments of lam alone.
void add_boxes_by_area(MomentForm& form, const BoxTable& table, Placement placement,
                       LabelMoments label, const BoxScalars& scalars);

/// Adds boxes of relative area 1 - lam with N = 1, 0 outside.
void add_cut_boxes(MomentForm& form, const LamFamily& lam, Placement placement);

/// Adds boxes of these sides with N = 1, 1 - outside around them.
void add_box(MomentForm& form, ImageSize sides, double outside, Placement placement);

}  // namespace medley::theory
