#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "medley/theory/coefficients.h"
#include "medley/theory/likely_masks.h"

namespace medley::theory {
namespace {

constexpr double kIntegrated = 1e-12;

/// Effective coefficients of the first pixel: of itself, and its mean.
struct Corner {
  double mean, second;
};

Corner corner_of(const MixPolicy& policy, ImageSize size) {
  const MaskMoments moments = effective_coefficients(policy, size);
  return {moments.mean({0, 0}), moments.second({0, 0}, {0, 0})};
}

// Here and below values come from quadrature with 20 digits and more: tanh-sinh, with lam and the
// ratio on logarithmic scales towards the ends of the stretches that keep the sides of a box.

TEST(PaperHmix, ResolvesRatiosNearOne) {
  struct Fact {
    ImageSize size;
    double ratio, alpha;
    LabelRule label;
    double mean, second;
  };
  using enum LabelRule;
  for (const auto& [size, ratio, alpha, label, mean, second] : {
           Fact{{1, 3}, 0.9, 1, realised, 0.2010544862259123, 0.1005272431129561},
           {{1, 3}, 0.999, 1, realised, 0.009862885145165191, 0.004931442572582595},
           {{1, 3}, 0.999, 1, drawn, 0.4950685574274174, 0.4901371148548348},
           {{1, 3}, 0.999, 0.5, realised, 0.02971379725900624, 0.01485689862950312},
           {{1, 3}, 0.9999999, 1, realised, 2.823620338258636e-6, 1.411810169129318e-6},
           {{4, 4}, 0.9, 0.5, drawn, 0.2969025083998097, 0.2253928828690877},
           {{4, 4}, 0.999, 1, realised, 0.3500527470921111, 0.3463154646408193},
           {{4, 4}, 0.9999999, 0.5, drawn, 0.4328683467531883, 0.4327498335897967},
       }) {
    const MixPolicy policy{.method = "hmix",
                           .alpha = alpha,
                           .placement = Placement::inside,
                           .form = Form::paper,
                           .ratio = ratio,
                           .label = label};
    const Corner corner = corner_of(policy, size);
    EXPECT_NEAR(corner.mean, mean, kIntegrated) << size.height << " " << ratio << " " << alpha;
    EXPECT_NEAR(corner.second, second, kIntegrated) << size.height << " " << ratio << " " << alpha;
    double listed = 0;
    for (const LikelyMask& mask : likely_masks(policy, size)) {
      const double q = 1 - mask.label_weight;
      const double n = 1 - mask.own[0];
      listed += mask.chance * (q + n - 2 * q * n);
    }
    EXPECT_NEAR(listed, mean, kIntegrated) << size.height << " " << ratio << " " << alpha;
  }
}

}  // namespace
}  // namespace medley::theory
