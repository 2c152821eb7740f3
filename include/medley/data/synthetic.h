#pragma once

#include <cstdint>
#include <string_view>

#include "medley/data/image.h"
#include "medley/types.h"

namespace medley::data {

/// Number of things that the generator can draw.
inline constexpr std::int32_t kSyntheticClasses = 12;

/// "cat", "fish", …; throws InvalidArgument unless 0 <= object_class < kSyntheticClasses.
[[nodiscard]] std::string_view synthetic_class_name(std::int32_t object_class);

/// Draws a picture: one object of the class in the middle of a patterned background. Pose, colours,
/// surface and background follow from (seed, index); the class only chooses the object, so equal
/// (seed, index) share colours and background across classes.
///
/// The picture is defined on the plane and anti-aliased, so one (seed, index, class) shows the same
/// scene at every size; the shorter side frames the object. The bits do not depend on the machine.
/// index >= 0; size within the limits of image.h. Throws InvalidArgument.
[[nodiscard]] Image synthetic_image(std::uint64_t seed, std::int64_t index,
                                    std::int32_t object_class, ImageSize size);

}  // namespace medley::data
