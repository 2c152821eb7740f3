#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/box.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr ImageSize kSize{20, 30};

MixPolicy resizemix() {
  MixPolicy policy;
  policy.method = "resizemix";
  return policy;
}

TEST(ResizeMix, DrawsTheScaleUniformly) {
  constexpr std::size_t kDraws = 20000;
  std::vector<double> scales;
  for (const MixEntry& entry : test::draw_samples(resizemix(), kSize, 1, kDraws).entries) {
    scales.push_back(std::sqrt(1 - entry.lam));  // lam = 1 - tau^2
  }
  EXPECT_LT(test::ks_distance(scales, [](double tau) { return (tau - 0.1) / 0.7; }),
            test::ks_bound(kDraws));
}

TEST(ResizeMix, KeepsToTheGivenScales) {
  MixPolicy policy = resizemix();
  policy.method.set("scale_min", 0.3);
  policy.method.set("scale_max", 0.4);
  for (const MixEntry& entry : test::draw_samples(policy, kSize, 2, 500).entries) {
    EXPECT_GE(std::sqrt(1 - entry.lam), 0.3 - 1e-12);
    EXPECT_LE(std::sqrt(1 - entry.lam), 0.4 + 1e-12);
  }
}

TEST(ResizeMix, PastesTheShrunkPartner) {
  MixPolicy policy = resizemix();
  policy.method.set("placement", Placement::inside);
  for (const MixEntry& entry : test::draw_samples(policy, kSize, 3, 500).entries) {
    const auto& box = std::get<BoxMask>(entry.mask);
    EXPECT_EQ(entry.resample, Resample::bilinear);
    EXPECT_EQ(box.height, box_side(20, 1 - entry.lam));
    EXPECT_EQ(box.width, box_side(30, 1 - entry.lam));
    EXPECT_EQ(box.inside, 0);
    EXPECT_EQ(box.outside, 1);
    EXPECT_DOUBLE_EQ(entry.label_weight, 1 - box.height * box.width / 600.0);
  }
}

TEST(ResizeMix, SaysHowToInterpolate) {
  MixPolicy policy = resizemix();
  policy.method.set("interpolation", Interpolation::nearest);
  EXPECT_EQ(test::draw_samples(policy, kSize, 4, 1).entries[0].resample, Resample::nearest);
}

TEST(ResizeMix, TakesAFixedShare) {
  MixPolicy policy = resizemix();
  policy.method.set("placement", Placement::inside);
  policy.method.set("lam", 0.75);  // half of each side
  const MixEntry entry = test::draw_samples(policy, kSize, 5, 1).entries[0];
  EXPECT_EQ(std::get<BoxMask>(entry.mask).height, 10);
  EXPECT_EQ(std::get<BoxMask>(entry.mask).width, 15);
  EXPECT_EQ(entry.lam, 0.75);
  EXPECT_DOUBLE_EQ(entry.label_weight, 0.75);
}

}  // namespace
}  // namespace medley
