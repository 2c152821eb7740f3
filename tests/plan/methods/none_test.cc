#include <gtest/gtest.h>

#include "plan/plans.h"

namespace medley {
namespace {

TEST(None, LeavesEverySampleAlone) {
  MixPolicy policy;
  policy.method = "none";
  for (const MixEntry& entry : test::draw_samples(policy, {3, 3}, 1, 20).entries) {
    EXPECT_EQ(entry.partner, entry.own);
    EXPECT_EQ(entry.mask, Mask(FlatMask{1}));
    EXPECT_EQ(entry.lam, 1);
    EXPECT_EQ(entry.label_weight, 1);
  }
}

TEST(None, StillCropsAndFlips) {
  MixPolicy policy;
  policy.method = "none";
  policy.augment = {4, 0.5};
  bool shifted = false, flipped = false;
  for (const MixEntry& entry : test::draw_samples(policy, {3, 3}, 1, 50).entries) {
    shifted = shifted || entry.own.dy != 0;
    flipped = flipped || entry.own.flip;
    EXPECT_EQ(entry.partner, entry.own);
  }
  EXPECT_TRUE(shifted);
  EXPECT_TRUE(flipped);
}

}  // namespace
}  // namespace medley
