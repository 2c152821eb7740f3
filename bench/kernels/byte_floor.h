#pragma once

#include "medley/plan.h"
#include "medley/types.h"

namespace medley::bench {

/// The fewest bytes that applying this plan must move: per output, every value of `out_type`
/// written once and every value of `in_type` that has a say in it read once. Counted so:
///   - flat and box masks: an image only where its weight is not 0;
///   - gaussian and field masks: both images, and the field's floats;
///   - resampled partners: the rows that are sampled, whole;
///   - sums of terms: every image of weight not 0.
/// An image that is its own partner is read once. Windows that leave the image count as if inside.
[[nodiscard]] double byte_floor(const MixPlan& plan, std::int32_t channels, DType in_type,
                                DType out_type);

}  // namespace medley::bench
