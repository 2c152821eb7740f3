#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "medley/plan.h"
#include "moments/lam_family.h"
#include "moments/moment_form.h"

namespace medley::theory {

/// Nodes on [lo, hi], in panels that shrink towards the lam where the Gaussian's width goes to 0,
/// lo or hi: there everything depends on the logarithm of the width.
[[nodiscard]] std::vector<Node> graded_nodes(const LamFamily& family, double lo, double hi,
                                             bool narrow_at_low, double pixels);

/// Nodes on [from, 1], where a Gaussian is one pixel. Labels are affine in lam, so one lam stands
/// for all; those that the sampler rounds to 1 have no Gaussian.
[[nodiscard]] std::vector<Node> one_pixel_nodes(const LamFamily& family, double from);

/// Adds Gaussian masks to a form, in blocks of its own: nobody else adds blocks meanwhile.
class GaussianFamily {
 public:
  GaussianFamily(MomentForm& form, LabelMoments label) : form_(form), label_(label) {}

  /// Masks of one width around a uniform pixel; none where tau is 0: one image alone.
  void add(double lam, double tau, Peak peak, double probability);

  /// Masks that peak for the partner, of a width per center, the same for centers that mirror each
  /// other. `tau` is called by several threads.
  void add_by_center(double lam, const std::function<double(std::int32_t cy, std::int32_t cx)>& tau,
                     double probability);

 private:
  MomentForm::Block& block();
  void add_law(AxisLaw rows, AxisLaw columns, const ScalarMoments& m);

  MomentForm& form_;
  LabelMoments label_;
  bool started_ = false;
};

}  // namespace medley::theory
