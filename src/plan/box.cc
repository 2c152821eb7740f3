#include "plan/box.h"

#include <algorithm>
#include <cmath>

namespace medley {
namespace {

BoxInterval place(RandomStream& random, std::int32_t n, std::int32_t side,
                  Placement placement) noexcept {
  const auto places = static_cast<std::uint32_t>(box_places(n, side, placement));
  return box_interval(n, side, placement, static_cast<std::int32_t>(random.below(places)));
}

/// floor(n share), with the tolerance of areas.
std::int32_t segment(std::int32_t n, double share) noexcept {
  return std::min(static_cast<std::int32_t>(n * share * (1.0 + kAreaTolerance)), n);
}

/// What the square of a box's side may be at most.
double most_square(std::int32_t n, double area) noexcept {
  return area * n * n * (1.0 + kAreaTolerance);
}

/// Whether box_side is n.
bool covers(std::int32_t n, double area) noexcept {
  return static_cast<double>(n) * n <= most_square(n, area);
}

}  // namespace

std::int32_t box_side(std::int32_t n, double area) noexcept {
  const double target = most_square(n, area);
  auto side = static_cast<std::int32_t>(std::sqrt(target));
  while (static_cast<double>(side) * side > target) --side;
  while (static_cast<double>(side + 1) * (side + 1) <= target) ++side;
  return std::clamp(side, 0, n);
}

ImageSize box_sides(ImageSize size, double area) noexcept {
  if (size.height == 1) return {1, segment(size.width, area)};
  if (size.width == 1) return {segment(size.height, area), 1};
  const std::int32_t height = box_side(size.height, area);
  return {height, size.width == size.height ? height : box_side(size.width, area)};
}

ImageSize hmix_sides(ImageSize size, double share, double ratio) noexcept {
  const double area = share * ratio;
  const bool whole = covers(size.height, area) && covers(size.width, area);
  if (ratio == 1 || whole || size.one_row()) return box_sides(size, area);
  const double side = std::sqrt(share) * std::sqrt(ratio);
  return {static_cast<std::int32_t>(size.height * side),
          static_cast<std::int32_t>(size.width * side)};
}

BoxMask draw_box(RandomStream& random, ImageSize size, ImageSize sides,
                 Placement placement) noexcept {
  const BoxInterval rows = place(random, size.height, sides.height, placement);
  const BoxInterval columns = place(random, size.width, sides.width, placement);
  return {rows.begin, columns.begin, rows.length, columns.length, 0, 1};
}

double box_mean(const BoxMask& box, ImageSize size) noexcept {
  const auto area = static_cast<double>(std::int64_t{box.height} * box.width);
  const auto pixels = static_cast<double>(size.pixels());
  return (box.inside * area + box.outside * (pixels - area)) / pixels;
}

}  // namespace medley
