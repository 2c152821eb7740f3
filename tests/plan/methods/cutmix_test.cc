#include <cmath>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/box.h"
#include "plan/plans.h"

namespace medley {
namespace {

MixPolicy cutmix(Placement placement) {
  MixPolicy policy;
  policy.method = "cutmix";
  policy.method.set("placement", placement);
  return policy;
}

TEST(CutMix, CutsABoxOfTheDrawnShare) {
  constexpr ImageSize kSize{11, 16};
  for (const Placement placement : {Placement::inside, Placement::wrap}) {
    for (const MixEntry& entry : test::draw_samples(cutmix(placement), kSize, 1, 500).entries) {
      const auto& box = std::get<BoxMask>(entry.mask);
      EXPECT_EQ(box.height, box_side(11, 1 - entry.lam));
      EXPECT_EQ(box.width, box_side(16, 1 - entry.lam));
      EXPECT_EQ(box.inside, 0);
      EXPECT_EQ(box.outside, 1);
    }
  }
}

TEST(CutMix, WeighsLabelsByTheClippedBox) {
  constexpr ImageSize kSize{11, 16};
  for (const MixEntry& entry :
       test::draw_samples(cutmix(Placement::clipped), kSize, 2, 500).entries) {
    const auto& box = std::get<BoxMask>(entry.mask);
    EXPECT_DOUBLE_EQ(entry.label_weight, 1 - box.height * box.width / 176.0);
  }
}

TEST(CutMix, HasThePublishedMeanShareOfPartnersWithUniformLam) {
  constexpr std::size_t kDraws = 40000;
  constexpr double kPublished = 0.299;
  constexpr double kDigits = 0.0005;
  // A share in [0, 1] of mean m has a variance of at most m (1 - m).
  const double bound = kDigits + test::frequency_bound(kPublished, kDraws);
  double sum = 0;
  for (const MixEntry& entry :
       test::draw_samples(cutmix(Placement::clipped), {32, 32}, 3, kDraws).entries) {
    sum += 1 - entry.label_weight;
  }
  EXPECT_NEAR(sum / kDraws, kPublished, bound);
}

}  // namespace
}  // namespace medley
