// Shifted, mirrored and cut-out sources, worked out by hand.

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/mix_cases.h"

namespace medley {
namespace {

using test::Images;
using test::plan_of;
using testing::ElementsAre;

class MixWindows : public test::EveryBackend {
 protected:
  MixWindows() { options_.windows = true; }

  /// Image 0 seen through a window.
  [[nodiscard]] std::vector<float> seen(const Source& window, const Images& in,
                                        ImageSize size) const {
    MixPlan plan = plan_of(size, FlatMask{1});
    plan.entries[0].own = window;
    plan.entries[0].partner = window;
    return mixed(plan, in);
  }
};

INSTANTIATE_TEST_SUITE_P(On, MixWindows, testing::ValuesIn(available_backends()),
                         test::backend_name);

const Images kImage{{2, 3},
                    {1, 2, 3,  //
                     4, 5, 6}};

TEST_P(MixWindows, ShiftReadsFurtherDownAndRight) {
  EXPECT_THAT(seen({0, 1, 1, false}, kImage, {2, 3}), ElementsAre(5, 6, 0,  //
                                                                  0, 0, 0));
}

TEST_P(MixWindows, ShiftReadsFurtherUpAndLeft) {
  EXPECT_THAT(seen({0, -1, -2, false}, kImage, {2, 3}), ElementsAre(0, 0, 0,  //
                                                                    0, 0, 1));
}

TEST_P(MixWindows, FlipMirrorsColumns) {
  EXPECT_THAT(seen({0, 0, 0, true}, kImage, {2, 3}), ElementsAre(3, 2, 1,  //
                                                                 6, 5, 4));
}

TEST_P(MixWindows, FlipMirrorsTheShiftedWindow) {
  // Pixel (y, x) shows (y + dy, width - 1 - x + dx).
  EXPECT_THAT(seen({0, 0, 1, true}, kImage, {2, 3}), ElementsAre(0, 3, 2,  //
                                                                 0, 6, 5));
  EXPECT_THAT(seen({0, 1, -1, true}, kImage, {2, 3}), ElementsAre(5, 4, 0,  //
                                                                  0, 0, 0));
}

TEST_P(MixWindows, PadWithTheGivenValue) {
  options_.pad_value = -7;
  EXPECT_THAT(seen({0, 1, 0, false}, kImage, {2, 3}), ElementsAre(4, 5, 6,  //
                                                                  -7, -7, -7));
}

TEST_P(MixWindows, PadWithTheReflectedImage) {
  options_.pad_mode = PadMode::reflect;
  EXPECT_THAT(seen({0, 1, 1, false}, kImage, {2, 3}), ElementsAre(5, 6, 5,  //
                                                                  2, 3, 2));
  EXPECT_THAT(seen({0, -1, -2, false}, kImage, {2, 3}), ElementsAre(6, 5, 4,  //
                                                                    3, 2, 1));
}

TEST_P(MixWindows, FarOutsideShowOnlyPadding) {
  options_.pad_value = 2;
  EXPECT_THAT(seen({0, 1000, -1000, true}, kImage, {2, 3}), testing::Each(2.0f));
}

TEST_P(MixWindows, PaddingIsRoundedToTheTypeOfTheInput) {
  options_.pad_value = 2.5f;
  MixPlan plan = plan_of({1, 2}, FlatMask{1});
  plan.entries[0].own.dx = 1;
  const std::vector<std::uint8_t> in = {7, 8, 0, 0};
  std::vector<float> out(2);
  mix(plan, view_of(in, {2, 1, 1, 2}), mutable_view_of(out, {1, 1, 1, 2}), options_);
  EXPECT_THAT(out, ElementsAre(8, 2));
}

TEST_P(MixWindows, PaddingIsNormalizedLikePixels) {
  options_.pad_value = 4;
  options_.normalize = {{2.0f}, {2.0f}};
  MixPlan plan = plan_of({1, 2}, FlatMask{1});
  plan.entries[0].own.dx = 1;
  EXPECT_THAT(mixed(plan, {{1, 2}, {6, 8, 0, 0}}), ElementsAre(3, 1));
}

TEST_P(MixWindows, CutFromALargerImage) {
  EXPECT_THAT(seen({0, 0, 1, false}, kImage, {1, 2}), ElementsAre(2, 3));
  EXPECT_THAT(seen({0, 1, 1, true}, kImage, {1, 2}), ElementsAre(6, 5));
}

TEST_P(MixWindows, MayBeLargerThanTheImage) {
  EXPECT_THAT(seen({0, -1, -1, false}, kImage, {4, 5}), ElementsAre(0, 0, 0, 0, 0,  //
                                                                    0, 1, 2, 3, 0,  //
                                                                    0, 4, 5, 6, 0,  //
                                                                    0, 0, 0, 0, 0));
}

TEST_P(MixWindows, OfOwnAndPartnerAreTheirOwn) {
  MixPlan plan = plan_of({1, 3}, FlatMask{0.5});
  plan.entries[0].own.dx = 1;
  plan.entries[0].partner.flip = true;
  EXPECT_THAT(mixed(plan, {{1, 3}, {2, 4, 6, 10, 20, 30}}), ElementsAre(17, 13, 5));
}

TEST_P(MixWindows, OfTermsAreTheirOwn) {
  MixPlan plan = plan_of({1, 3}, FlatMask{0.5});
  plan.terms = {{{0, 0, 1, false}, 0.5}, {{1, 0, 0, true}, 0.5}};
  plan.entries[0].term_count = 2;
  EXPECT_THAT(mixed(plan, {{1, 3}, {2, 4, 6, 10, 20, 30}}), ElementsAre(17, 13, 5));
}

TEST_P(MixWindows, MaskStaysWhereItIs) {
  // The mask belongs to the output, not to the shifted image.
  MixPlan plan = plan_of({1, 3}, BoxMask{0, 0, 1, 1, 0, 1});
  plan.entries[0].own.dx = 1;
  plan.entries[0].partner.dx = 1;
  EXPECT_THAT(mixed(plan, {{1, 3}, {1, 2, 3, 10, 20, 30}}), ElementsAre(20, 3, 0));
}

}  // namespace
}  // namespace medley
