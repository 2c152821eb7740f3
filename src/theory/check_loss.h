#pragma once

#include <cstdint>
#include <span>

#include "medley/theory/enumerate_masks.h"
#include "medley/theory/loss.h"

namespace medley::theory {

// All throw InvalidArgument.

/// The numbers of samples must fit the counts and be finite.
void check_samples(const Samples& samples);

/// Samples, labels and parameters must fit each other; samples and parameters must be finite.
void check_model(const Glm& model, const Samples& samples, std::span<const double> y);

/// Masks must have a weight per coordinate.
void check_masks(std::span<const WeightedMask> masks, std::int64_t dimension);

}  // namespace medley::theory
