#pragma once

#include <cstdint>
#include <vector>

#include "medley/policy.h"
#include "medley/types.h"

namespace medley::theory {

/// A mask, its probability, and the weight that it gives the own label.
struct WeightedMask {
  double probability = 0;
  std::vector<double> own;  ///< M of every pixel, row-major
  double label_weight = 1;
};

/// The law of a policy's masks as a list: every place of a box, every center, all 2^pixels
/// Bernoulli masks; lam by exact cells where the mask does not depend on it, else by quadrature.
/// Probabilities sum to 1. Averages over the list of anything that is affine in the label weight
/// are those over the law. For small images: throws InvalidArgument above `most` masks, naming the
/// number, and for methods that do not list their masks.
[[nodiscard]] std::vector<WeightedMask> enumerate_masks(const MixPolicy& policy, ImageSize size,
                                                        std::int64_t most = 1000000);

}  // namespace medley::theory
