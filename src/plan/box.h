#pragma once

#include <algorithm>
#include <cstdint>

#include "medley/plan.h"
#include "medley/policy.h"
#include "medley/random.h"

namespace medley {

/// Relative: a box gains a pixel when its area is this close to the one that takes it, so that
/// rounding of an area does not cost a side.
inline constexpr double kAreaTolerance = 1e-12;

/// Side of a box of relative area `area` on an axis of n pixels: floor(n sqrt(area)), safe against
/// rounding (the largest s with s^2 <= area n^2 (1 + kAreaTolerance)). area in [0, 1].
[[nodiscard]] std::int32_t box_side(std::int32_t n, double area) noexcept;

/// Sides of a box of relative area `area`: box_side of both axes; of one row floor(n area) pixels,
/// as safe against rounding.
[[nodiscard]] ImageSize box_sides(ImageSize size, double area) noexcept;

/// Sides of the box of hmix, for the partner's share 1 - lam: floor(n sqrt(share) sqrt(ratio)). The
/// factors are multiplied in double precision as the published code does, where an exact product
/// can lose a pixel. At ratio 1, where it covers the image, and of one row the box is that of
/// cutmix.
[[nodiscard]] ImageSize hmix_sides(ImageSize size, double share, double ratio) noexcept;

/// What placement `clipped` leaves of a side before it is cut at the border: an even number, but on
/// an axis of one pixel.
[[nodiscard]] constexpr std::int32_t clipped_side(std::int32_t n, std::int32_t side) noexcept {
  return n == 1 ? side : side / 2 * 2;
}

/// The pixels that a box covers along an axis; from the end on they are those of the beginning.
struct BoxInterval {
  std::int32_t begin;
  std::int32_t length;
};

/// How many places a side has on an axis of n pixels, all equally probable.
[[nodiscard]] constexpr std::int32_t box_places(std::int32_t n, std::int32_t side,
                                                Placement placement) noexcept {
  return placement == Placement::inside ? n - side + 1 : n;
}

/// What a side covers at place 0 <= at < box_places:
///   clipped  [at - s/2, at + s/2) with whole s/2, cut at the border; an axis of one pixel keeps
///            its side
///   inside   s pixels from `at` on
///   wrap     the same, past the edge
[[nodiscard]] inline BoxInterval box_interval(std::int32_t n, std::int32_t side,
                                              Placement placement, std::int32_t at) noexcept {
  if (placement != Placement::clipped) return {at, side};
  if (n == 1) return {0, side};
  const std::int32_t half = side / 2;
  const std::int32_t begin = std::max(at - half, 0);
  return {begin, std::min(at + half, n) - begin};
}

/// A box of these sides, placed at random, rows and columns independently; `inside` and `outside`
/// are left at 0 and 1.
[[nodiscard]] BoxMask draw_box(RandomStream& random, ImageSize size, ImageSize sides,
                               Placement placement) noexcept;

/// Mean over the pixels of the mask that a box makes.
[[nodiscard]] double box_mean(const BoxMask& box, ImageSize size) noexcept;

}  // namespace medley
