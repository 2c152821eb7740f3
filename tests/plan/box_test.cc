#include "plan/box.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr std::uint64_t kSeed = 2002;
constexpr double kExact = 1e-12;  // the specification's tolerance for coverages

// ---- sides ----

TEST(BoxSide, IsTheLargestWithAtMostThatArea) {
  RandomStream random(kSeed, 0, 0, Purpose::picture);
  for (const std::int32_t n : {1, 2, 3, 7, 32, 33, 224, 1000, 32768}) {
    for (int i = 0; i < 500; ++i) {
      const double area = random.uniform();
      const double target = area * n * n * (1 + 1e-12);
      const double side = box_side(n, area);
      ASSERT_LE(side * side, target) << n << ", " << area;
      ASSERT_GT((side + 1) * (side + 1), target) << n << ", " << area;
    }
  }
}

TEST(BoxSide, IsExactForAreasThatAreSquares) {
  for (std::int32_t n = 1; n <= 256; ++n) {
    for (std::int32_t s = 0; s <= n; ++s) {
      const double ratio = static_cast<double>(s) / n;
      ASSERT_EQ(box_side(n, ratio * ratio), s) << "of " << n;
    }
  }
}

TEST(BoxSide, CoversNothingAndEverythingAtTheEnds) {
  for (const std::int32_t n : {1, 8, 32768}) {
    EXPECT_EQ(box_side(n, 0), 0);
    EXPECT_EQ(box_side(n, 1), n);
  }
}

TEST(BoxSide, IsThatOfTheSpecificationAtHalfTheImage) {
  EXPECT_EQ(box_side(64, 0.5), 45);
  EXPECT_EQ(box_side(64, 0.5 * 0.5), 32);
  EXPECT_EQ(box_side(64, 0.5 * 0.7), 37);
  EXPECT_EQ(box_side(64, 0.5 * 0.75), 39);
}

// ---- placement ----

/// A box along one axis.
struct Interval {
  std::int32_t begin = 0;
  std::int32_t length = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Where an axis is placed: the center of a clipped box, else the first row.
std::int32_t position_of(Interval box, std::int32_t side, Placement placement) {
  if (placement != Placement::clipped || side / 2 == 0) return box.begin;
  return box.begin > 0 ? box.begin + side / 2 : box.length - side / 2;
}

struct Setting {
  Placement placement;
  ImageSize size;
  double area;

  [[nodiscard]] std::string name() const {
    return fmt::format("{}_{}x{}_{}", name_of(placement), size.height, size.width,
                       std::lround(100 * area));
  }
  friend std::ostream& operator<<(std::ostream& out, const Setting& s) { return out << s.name(); }
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Placement placement : {Placement::clipped, Placement::inside, Placement::wrap}) {
    // Sides of 7x5: 3x2, 4x3, 6x4; of 8x8: 4, 5, 7; of 6x9: 3x4, 4x6, 5x8.
    for (const ImageSize size : {ImageSize{7, 5}, ImageSize{8, 8}, ImageSize{6, 9}}) {
      for (const double area : {0.25, 0.45, 0.8}) all.push_back({placement, size, area});
    }
  }
  return all;
}

class DrawBox : public testing::TestWithParam<Setting> {
 protected:
  static constexpr std::size_t kDraws = 20000;

  void SetUp() override {
    RandomStream random(kSeed, 0, 1, Purpose::mask);
    for (std::size_t i = 0; i < kDraws; ++i) {
      boxes_.push_back(draw_box(random, setting().size, box_sides(setting().size, setting().area),
                                setting().placement));
    }
  }

  static const Setting& setting() { return GetParam(); }
  static std::int32_t positions(std::int32_t n, std::int32_t side) {
    return setting().placement == Placement::inside ? n - side + 1 : n;
  }

  /// The interval at each position, as drawn; one missing if a position never came.
  template <typename Axis>
  std::map<std::int32_t, Interval> intervals(std::int32_t n, const Axis& axis) const {
    const std::int32_t side = box_side(n, setting().area);
    std::map<std::int32_t, Interval> found;
    for (const BoxMask& box : boxes_) {
      const Interval interval = axis(box);
      const std::int32_t at = position_of(interval, side, setting().placement);
      const auto [entry, added] = found.emplace(at, interval);
      EXPECT_EQ(entry->second, interval) << "position " << at;
    }
    return found;
  }

  std::vector<BoxMask> boxes_;
};

Interval rows_of(const BoxMask& box) { return {box.top, box.height}; }
Interval columns_of(const BoxMask& box) { return {box.left, box.width}; }

TEST_P(DrawBox, PlacesEveryPositionEquallyOften) {
  const auto [placement, size, area] = setting();
  const std::int32_t side_h = box_side(size.height, area), side_w = box_side(size.width, area);
  const std::int32_t rows = positions(size.height, side_h);
  const std::int32_t columns = positions(size.width, side_w);
  const auto row_length = static_cast<std::size_t>(columns);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(rows) * row_length);
  for (const BoxMask& box : boxes_) {
    const std::int32_t y = position_of(rows_of(box), side_h, placement);
    const std::int32_t x = position_of(columns_of(box), side_w, placement);
    ASSERT_TRUE(y >= 0 && y < rows && x >= 0 && x < columns) << y << ", " << x;
    ++counts[static_cast<std::size_t>(y) * row_length + static_cast<std::size_t>(x)];
  }
  if (counts.size() == 1) return;  // a box as large as the image has one place
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(counts.size() - 1));
}

/// How many of the boxes cover both pixels j and k of an axis, by counting.
std::int32_t times_covered(const std::map<std::int32_t, Interval>& boxes, std::int32_t n,
                           std::int32_t j, std::int32_t k) {
  const auto covers = [n](Interval box, std::int32_t i) {
    return (i - box.begin + n) % n < box.length;
  };
  return static_cast<std::int32_t>(std::ranges::count_if(
      boxes, [&](const auto& box) { return covers(box.second, j) && covers(box.second, k); }));
}

/// Theory 2.0: the chance that a box of side s covers pixels j and k of n.
double coverage(Placement placement, std::int32_t n, std::int32_t s, std::int32_t j,
                std::int32_t k) {
  const std::int32_t lo = std::min(j, k), hi = std::max(j, k);
  const auto positive = [](std::int32_t v) { return static_cast<double>(std::max(v, 0)); };
  if (placement == Placement::inside) {
    if (s == 0) return 0;
    return positive(std::min(lo, n - s) - std::max(hi - s + 1, 0) + 1) / (n - s + 1);
  }
  if (placement == Placement::clipped) {
    const std::int32_t e = s / 2;
    if (e == 0) return 0;
    return positive(std::min(lo + e, n - 1) - std::max(hi - e + 1, 0) + 1) / n;
  }
  if (s == n) return 1;
  const std::int32_t distance = hi - lo;
  return (positive(s - distance) + (distance > 0 ? positive(s - (n - distance)) : 0.0)) / n;
}

TEST_P(DrawBox, CoversPixelsAndPairsAsOftenAsTheFormulaSays) {
  const auto check = [&](std::int32_t n, const auto& axis) {
    const std::int32_t side = box_side(n, setting().area);
    const auto found = intervals(n, axis);
    ASSERT_EQ(std::ssize(found), positions(n, side));
    for (std::int32_t j = 0; j < n; ++j) {
      for (std::int32_t k = 0; k < n; ++k) {
        EXPECT_NEAR(
            static_cast<double>(times_covered(found, n, j, k)) / static_cast<double>(found.size()),
            coverage(setting().placement, n, side, j, k), kExact)
            << "pixels " << j << " and " << k << " of " << n;
      }
    }
  };
  check(setting().size.height, rows_of);
  check(setting().size.width, columns_of);
}

INSTANTIATE_TEST_SUITE_P(Settings, DrawBox, testing::ValuesIn(settings()),
                         [](const auto& param) { return param.param.name(); });

std::vector<BoxMask> boxes(ImageSize size, double area, Placement placement, int count) {
  RandomStream random(kSeed, 0, 2, Purpose::mask);
  std::vector<BoxMask> drawn;
  drawn.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    drawn.push_back(draw_box(random, size, box_sides(size, area), placement));
  return drawn;
}

TEST(ClippedBox, LosesTheOddRowOfItsSide) {
  ASSERT_EQ(box_side(8, 0.45), 5);
  std::int32_t tallest = 0;
  for (const BoxMask& box : boxes({8, 8}, 0.45, Placement::clipped, 1000)) {
    tallest = std::max(tallest, box.height);
  }
  EXPECT_EQ(tallest, 4);
}

TEST(ClippedBox, OfSideOneIsEmpty) {
  ASSERT_EQ(box_side(8, 0.02), 1);
  for (const BoxMask& box : boxes({8, 8}, 0.02, Placement::clipped, 100)) {
    ASSERT_EQ(box.height, 0);
    ASSERT_EQ(box.width, 0);
  }
}

TEST(ClippedBox, CoversTheFirstRowFromOneCenterMoreThanTheLast) {
  constexpr std::int32_t kHalf = 2;  // half of side 5, rounded down
  std::map<std::int32_t, BoxMask> by_center;
  for (const BoxMask& box : boxes({8, 8}, 0.45, Placement::clipped, 1000)) {
    by_center[position_of(rows_of(box), 5, Placement::clipped)] = box;
  }
  ASSERT_EQ(by_center.size(), 8u);
  EXPECT_EQ(std::ranges::count_if(by_center, [](const auto& b) { return b.second.top == 0; }),
            kHalf + 1);
  EXPECT_EQ(std::ranges::count_if(
                by_center, [](const auto& b) { return b.second.top + b.second.height == 8; }),
            kHalf);
}

TEST(InsideBox, KeepsOddSides) {
  for (const BoxMask& box : boxes({8, 9}, 0.45, Placement::inside, 1000)) {
    ASSERT_EQ(box.height, 5);
    ASSERT_EQ(box.width, 6);
    ASSERT_LE(box.top + box.height, 8);
    ASSERT_LE(box.left + box.width, 9);
  }
}

TEST(WrappedBox, KeepsOddSidesAndStartsAnywhere) {
  std::int32_t past_the_edge = 0;
  for (const BoxMask& box : boxes({8, 9}, 0.45, Placement::wrap, 1000)) {
    ASSERT_EQ(box.height, 5);
    ASSERT_EQ(box.width, 6);
    ASSERT_LT(box.top, 8);
    ASSERT_LT(box.left, 9);
    if (box.top + box.height > 8) ++past_the_edge;
  }
  EXPECT_GT(past_the_edge, 0);
}

TEST(DrawBox, OfWholeImageCoversItInside) {
  for (const Placement placement : {Placement::inside, Placement::wrap}) {
    for (const BoxMask& box : boxes({5, 7}, 1, placement, 50)) {
      ASSERT_EQ(box_mean(box, {5, 7}), 0.0);
    }
  }
}

TEST(DrawBox, LeavesTheValuesOfCutmix) {
  const BoxMask box = boxes({5, 7}, 0.5, Placement::inside, 1).front();
  EXPECT_EQ(box.inside, 0.0);
  EXPECT_EQ(box.outside, 1.0);
}

TEST(BoxSides, OfOneRowAreASegment) {
  EXPECT_EQ(box_sides({1, 400}, 0.25), (ImageSize{1, 100}));
  EXPECT_EQ(box_sides({400, 1}, 0.25), (ImageSize{100, 1}));
  EXPECT_EQ(box_sides({1, 10}, 0), (ImageSize{1, 0}));
  EXPECT_EQ(box_sides({1, 10}, 1), (ImageSize{1, 10}));
  EXPECT_EQ(hmix_sides({1, 400}, 0.5, 0.5), (ImageSize{1, 100}));
  for (std::int32_t s = 0; s <= 49; ++s) {  // rounding of an area costs no pixel
    ASSERT_EQ(box_sides({1, 49}, s / 49.0), (ImageSize{1, s}));
  }
}

TEST(DrawBox, OfOneRowKeepsItsAxisOfOnePixel) {
  for (const Placement placement : {Placement::clipped, Placement::inside, Placement::wrap}) {
    for (const BoxMask& box : boxes({1, 20}, 0.5, placement, 50)) {
      EXPECT_EQ(box.top, 0);
      EXPECT_EQ(box.height, 1);
      EXPECT_GE(box.width, 5);
    }
    for (const BoxMask& box : boxes({20, 1}, 0.5, placement, 50)) EXPECT_EQ(box.width, 1);
  }
}

TEST(BoxMean, WeighsBothSidesByTheirPixels) {
  EXPECT_DOUBLE_EQ(box_mean({1, 2, 2, 3, 0.25, 0.75}, {4, 5}), (6 * 0.25 + 14 * 0.75) / 20);
  EXPECT_DOUBLE_EQ(box_mean({3, 4, 2, 3, 0, 1}, {4, 5}), 14.0 / 20);  // wrapped
  EXPECT_DOUBLE_EQ(box_mean({0, 0, 0, 3, 0, 1}, {4, 5}), 1);          // empty
}

/// Mean share of a box of relative area `area` on n x n, over all positions.
double mean_share(std::int32_t n, double area, Placement placement) {
  std::map<std::int32_t, std::int32_t> lengths;  // by position
  const std::int32_t side = box_side(n, area);
  for (const BoxMask& box : boxes({n, n}, area, placement, 4000)) {
    lengths[position_of(rows_of(box), side, placement)] = box.height;
  }
  EXPECT_EQ(std::ssize(lengths), placement == Placement::inside ? n - side + 1 : n);
  double sum = 0;
  for (const auto& [position, length] : lengths) sum += length;
  return std::pow(sum / static_cast<double>(lengths.size()) / n, 2);
}

TEST(DrawBox, HasTheExactMeanShareAtHalf) {
  EXPECT_NEAR(mean_share(64, 0.5, Placement::inside), 0.494384765625, kExact);
  EXPECT_NEAR(mean_share(64, 0.5, Placement::wrap), 0.494384765625, kExact);
  EXPECT_NEAR(mean_share(64, 0.5, Placement::clipped), 0.3241434097290039, kExact);
}

TEST(ClippedBox, HasThePublishedMeanShare) {
  constexpr double kDigits = 0.0005;  // the figures have three digits
  EXPECT_NEAR(mean_share(32, 0.10, Placement::clipped), 0.083, kDigits);
  EXPECT_NEAR(mean_share(32, 0.25, Placement::clipped), 0.191, kDigits);
  EXPECT_NEAR(mean_share(32, 0.50, Placement::clipped), 0.324, kDigits);
  EXPECT_NEAR(mean_share(32, 0.75, Placement::clipped), 0.419, kDigits);
  EXPECT_NEAR(mean_share(32, 1.00, Placement::clipped), 0.5625, kDigits);
}

}  // namespace
}  // namespace medley
