#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/medley.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

MixPlan plan_with(ImageSize size, const Mask& mask) {
  MixPlan plan;
  plan.size = size;
  plan.entries.resize(1);
  plan.entries[0].mask = mask;
  return plan;
}

std::vector<double> values(const MixPlan& plan) { return test::values_of(plan, plan.entries[0]); }

TEST(MaskValues, OfAFlatMaskAreItsValue) {
  const MixPlan plan = plan_with({1, 3}, FlatMask{1.5});
  EXPECT_THAT(values(plan), ElementsAre(1.5, 1.5, 1.5));
  EXPECT_EQ(mask_mean(plan, plan.entries[0]), 1.5);
}

TEST(MaskValues, OfMasksThatDoNotFitThePlanAreRefused) {
  for (const Mask& mask : {Mask(FieldMask{1 << 20}), Mask(FieldMask{-1}),
                           Mask(BoxMask{-1, 0, 1, 1}), Mask(GaussianMask{3, 0, 1.0})}) {
    const MixPlan plan = plan_with({1, 3}, mask);
    EXPECT_THAT([&] { (void)mask_mean(plan, plan.entries[0]); },
                ThrowsMessage<InvalidArgument>(HasSubstr("does not fit the plan")));
    EXPECT_THAT([&] { (void)values(plan); },
                ThrowsMessage<InvalidArgument>(HasSubstr("does not fit the plan")));
  }
}

TEST(MaskValues, OfABoxDifferInsideAndOutside) {
  const MixPlan plan = plan_with({3, 4}, BoxMask{1, 1, 2, 2, 0.25, 0.75});
  EXPECT_THAT(values(plan), ElementsAre(0.75, 0.75, 0.75, 0.75,  //
                                        0.75, 0.25, 0.25, 0.75,  //
                                        0.75, 0.25, 0.25, 0.75));
  EXPECT_DOUBLE_EQ(mask_mean(plan, plan.entries[0]), (4 * 0.25 + 8 * 0.75) / 12);
}

TEST(MaskValues, OfAWrappedBoxGoOnAtTheOppositeEdge) {
  const MixPlan plan = plan_with({3, 4}, BoxMask{2, 3, 2, 2, 0, 1});
  EXPECT_THAT(values(plan), ElementsAre(0, 1, 1, 0,  //
                                        1, 1, 1, 1,  //
                                        0, 1, 1, 0));
  EXPECT_DOUBLE_EQ(mask_mean(plan, plan.entries[0]), 8.0 / 12);
}

TEST(MaskValues, OfAnEmptyBoxAreOutside) {
  const MixPlan plan = plan_with({1, 2}, BoxMask{1, 2, 0, 0, 0, 0.5});
  EXPECT_THAT(values(plan), ElementsAre(0.5, 0.5));
  EXPECT_EQ(mask_mean(plan, plan.entries[0]), 0.5);
}

TEST(MaskValues, OfAGaussianFallFromItsPeak) {
  // exp(-pi d^2 / (tau * 4)) with tau = pi / (4 log 2): halves per squared pixel.
  constexpr double kTau = 1.1330900354567985;
  const MixPlan own = plan_with({1, 4}, GaussianMask{0, 1, kTau, Peak::own});
  const std::vector<double> kernel = values(own);
  ASSERT_EQ(kernel.size(), 4u);
  EXPECT_NEAR(kernel[0], 0.5, 1e-15);
  EXPECT_EQ(kernel[1], 1.0);
  EXPECT_NEAR(kernel[2], 0.5, 1e-15);
  EXPECT_NEAR(kernel[3], 0.0625, 1e-15);
  EXPECT_NEAR(mask_mean(own, own.entries[0]), 2.0625 / 4, 1e-15);
}

TEST(MaskValues, OfAPartnersGaussianAreTheComplement) {
  const MixPlan own = plan_with({4, 5}, GaussianMask{2, 1, 0.3, Peak::own});
  const MixPlan partner = plan_with({4, 5}, GaussianMask{2, 1, 0.3, Peak::partner});
  const std::vector<double> a = values(own), b = values(partner);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(b[i], 1 - a[i]);
  EXPECT_DOUBLE_EQ(mask_mean(own, own.entries[0]) + mask_mean(partner, partner.entries[0]), 1);
}

TEST(MaskValues, OfAFieldAreReadFromItsPlace) {
  MixPlan plan = plan_with({1, 2}, FieldMask{3});
  plan.fields = {9, 9, 9, 0.25f, -1.5f};
  EXPECT_THAT(values(plan), ElementsAre(0.25, -1.5));
  EXPECT_EQ(mask_mean(plan, plan.entries[0]), -0.625);
}

TEST(MaskValues, OfAConstantGridAreThoseOfTheirBlock) {
  MixPlan plan = plan_with({3, 5}, GridMask{1, 2, 3, GridInterpolation::constant});
  plan.fields = {9, 1, 2, 3, 4, 5, 6};
  EXPECT_THAT(values(plan), ElementsAre(1, 1, 2, 2, 3,  //
                                        1, 1, 2, 2, 3,  //
                                        4, 4, 5, 5, 6));
  EXPECT_DOUBLE_EQ(mask_mean(plan, plan.entries[0]), 42.0 / 15);
}

TEST(MaskValues, OfABilinearGridLieBetweenTheCentersOfBlocks) {
  MixPlan plan = plan_with({2, 8}, GridMask{0, 1, 2, GridInterpolation::bilinear});
  plan.fields = {0, 1};
  // Centers of blocks at 2 and 6, of pixels at halves.
  EXPECT_THAT(values(plan), ElementsAre(0, 0, 0.125, 0.375, 0.625, 0.875, 1, 1,  //
                                        0, 0, 0.125, 0.375, 0.625, 0.875, 1, 1));
  plan.entries[0].mask = GridMask{0, 2, 1, GridInterpolation::bilinear};
  const std::vector<double> rows = values(plan);
  EXPECT_EQ(rows[0], 0);
  EXPECT_EQ(rows[8], 1);
}

TEST(MaskValues, OfAGridOfOnesOrZerosAreThese) {
  MixPlan plan = plan_with({31, 37}, GridMask{0, 5, 7, GridInterpolation::bilinear});
  for (const float value : {0.0f, 1.0f}) {
    plan.fields.assign(35, value);
    EXPECT_THAT(values(plan), testing::Each(value));
    EXPECT_EQ(mask_mean(plan, plan.entries[0]), value);
  }
}

TEST(MaskValues, OfATermAreItsWeightUnlessItHasAMask) {
  MixPlan plan = plan_with({1, 4}, FlatMask{});
  plan.fields = {1, 0, 0.5f, 0.25f};
  plan.terms = {{{0}, 0.25}, {{0}, 0.5, FieldMask{0}}, {{0}, 0.5, GridMask{0, 1, 2}}};
  std::vector<double> weights(4);
  mask_values(plan, plan.terms[0], weights);
  EXPECT_THAT(weights, testing::Each(0.25));
  EXPECT_EQ(mask_mean(plan, plan.terms[0]), 0.25);
  mask_values(plan, plan.terms[1], weights);
  EXPECT_THAT(weights, ElementsAre(1, 0, 0.5, 0.25));
  EXPECT_EQ(mask_mean(plan, plan.terms[1]), 1.75 / 4);
  mask_values(plan, plan.terms[2], weights);
  EXPECT_THAT(weights, ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(mask_mean(plan, plan.terms[2]), 0.5);
}

TEST(MaskValues, OfOpenMasksAreRefused) {
  const MixPlan plan = plan_with({1, 2}, OpenMask{});
  EXPECT_THAT(
      [&] { (void)values(plan); },
      ThrowsMessage<InvalidArgument>(HasSubstr("is open: its mask is still to be decided")));
  EXPECT_THAT([&] { (void)mask_mean(plan, plan.entries[0]); },
              ThrowsMessage<InvalidArgument>(HasSubstr("solve the plan first")));
}

TEST(MaskValues, NeedRoomForTheWholeMask) {
  const MixPlan plan = plan_with({2, 3}, FlatMask{1});
  std::vector<double> room(5);
  EXPECT_THAT([&] { mask_values(plan, plan.entries[0], room); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("2x3"), HasSubstr("got room for 5"))));
}

}  // namespace
}  // namespace medley
