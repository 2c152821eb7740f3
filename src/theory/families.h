#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "medley/policy.h"
#include "medley/theory/beta_law.h"
#include "medley/types.h"
#include "theory/moment_form.h"

namespace medley::theory {

/// The law of lam that a policy asks for, and how labels follow.
struct LamFamily {
  std::optional<double> fixed;
  double alpha = 1;
  double beta = 1;
  bool effective = false;
  LabelRule label = LabelRule::realised;

  /// E[lam^power; lo <= lam < hi], the upper end included if it is 1.
  [[nodiscard]] double moment(double lo, double hi, int power) const;
  /// Nodes on [lo, hi].
  [[nodiscard]] std::vector<Node> nodes(double lo, double hi) const;
  /// `realised` is what the method's realised label is: fixed by lam, or the mean of the mask.
  [[nodiscard]] LabelMoments label_moments(LabelMoments realised) const;
};

/// Masks that only rounding makes (full boxes at tiny lams, no kernel where lam is rounded to 0 or
/// 1, the paper's hmix where the ratio is rounded to 1) count where they are at least so likely;
/// below, moments are those of exact numbers.
inline constexpr double kRare = 1e-6;

/// A draw whose distance to 1 is below this is rounded to 1.
inline constexpr double kRounded = std::numeric_limits<double>::epsilon() / 2;

/// The tolerance of the areas of boxes, kAreaTolerance of plan/box.h; 0 where lams that small are
/// rare.
[[nodiscard]] double area_tolerance(double alpha, double beta);

struct Stretch {
  double from = 0, to = 0;
};

/// Stretches of x that make up [0, 1], in order; within each, a box of relative area x * most keeps
/// its sides. most in [0, 1].
[[nodiscard]] std::vector<Stretch> equal_boxes(ImageSize size, double most, double tolerance);

/// Nodes of lam on [lo, hi] for the weight outside the box that the paper prints for hmix, which
/// changes fast where lam is about 1 - ratio.
[[nodiscard]] std::vector<Node> paper_nodes(const LamFamily& lam, double lo, double hi,
                                            double ratio);

/// Nodes of lam between all lams where the masks of gmix jump or bend.
[[nodiscard]] std::vector<Node> gmix_nodes(const LamFamily& lam, Form form, ImageSize size);

/// Throws InvalidArgument for a method of more than two images, which has no effective mask.
void check_has_effective_mask(const MixPolicy& policy);

// Each adds the masks of one method with total chance `weight`.

void add_mixup(MomentForm& form, const LamFamily& lam, double weight);
void add_bernoulli(MomentForm& form, const LamFamily& lam);
void add_cutmix(MomentForm& form, const LamFamily& lam, Placement placement, double weight);
void add_hmix(MomentForm& form, const LamFamily& lam, const MixPolicy& policy);
void add_box(MomentForm& form, std::int32_t height, std::int32_t width, double outside,
             Placement placement);
void add_gmix(MomentForm& form, const LamFamily& lam, Form kind);
void add_gaussian_field(MomentForm& form, const LamFamily& lam, const MixPolicy& policy);

}  // namespace medley::theory
