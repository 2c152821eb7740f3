#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "medley/policy.h"
#include "python/plan.h"

namespace medley::python {

/// How timm draws the boxes of CutMix.
struct TimmBoxes {
  Mode mode;                                        ///< which entries share a box
  bool current;                                     ///< as timm from 1.0.29 on
  bool correct;                                     ///< label weights are those of the box
  std::optional<std::pair<double, double>> minmax;  ///< of the sides, as shares of the image
};

/// The plan with boxes drawn as timm draws them in place of its own, for the same lam:
///   current        side floor(n sqrt(1 - lam)), [c - s/2, c + (s+1)/2) around a uniform pixel c,
///   cut
///                  at the border; before timm 1.0.29 that is CutMix with placement clipped
///   minmax         sides uniform on [floor(n min), floor(n max)), first row uniform on {0..n-s}
///                  (not current: {0..n-s-1}), wherever lam goes
/// Draws follow from seed, epoch and ordinal, as those of the plan. Images of one row or column
/// keep the segments that they have.
[[nodiscard]] std::shared_ptr<Plan> timm_boxes(const Plan& plan, const TimmBoxes& rule);

void bind_timm_boxes(py::module_& module);

}  // namespace medley::python
