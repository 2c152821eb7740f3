#pragma once

#include <vector>

#include "medley/policy.h"
#include "medley/types.h"

namespace medley::test {

/// A mask with its probability: 1 - M of every pixel, and the partner's share of the label.
struct WeightedMask {
  double probability = 0;
  std::vector<double> n;
  double realized = 0;  ///< mean of n
};

/// Every mask that a policy can draw at its fixed lam, by plain loops over centers and corners:
/// nothing of the library's theory is used. Bernoulli takes at most 12 pixels.
[[nodiscard]] std::vector<WeightedMask> all_masks(const MixPolicy& policy, ImageSize size);

/// First and second moments by summation over the masks.
struct Moments {
  ImageSize size;
  std::vector<double> mean;
  std::vector<double> second;  ///< P x P

  [[nodiscard]] std::vector<double> map() const;
};

[[nodiscard]] Moments plain_moments(const std::vector<WeightedMask>& masks, ImageSize size);
/// Moments of the effective mask; `share` is the label's share of the partner, or negative for the
/// mean of the mask.
[[nodiscard]] Moments effective_moments(const std::vector<WeightedMask>& masks, ImageSize size,
                                        double share);

}  // namespace medley::test
