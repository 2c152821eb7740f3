// What grids, masks of terms and moved tiles mean, on tiny images.

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/mix_cases.h"
#include "medley/medley.h"

namespace medley {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class MixBlocks : public test::EveryBackend {};

TEST_P(MixBlocks, GridsWeighBlocks) {
  MixPlan plan = test::plan_of({2, 4}, GridMask{0, 1, 2});
  plan.fields = {0.25f, 0.5f};
  const test::Images in{{2, 4}, {8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 4, 0}};
  EXPECT_THAT(mixed(plan, in), ElementsAre(5, 5, 6, 6, 5, 5, 6, 4));
}

TEST_P(MixBlocks, BilinearGridsWeighBetweenCenters) {
  MixPlan plan = test::plan_of({1, 8}, GridMask{0, 1, 2, GridInterpolation::bilinear});
  plan.fields = {0, 1};
  const test::Images in{{1, 8}, {8, 8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0}};
  EXPECT_THAT(mixed(plan, in), ElementsAre(0, 0, 1, 3, 5, 7, 8, 8));
}

TEST_P(MixBlocks, ABlockOfWeightZeroLeavesItsImageOut) {
  MixPlan plan = test::plan_of({1, 4}, GridMask{0, 1, 2});
  plan.fields = {0, 1};
  const test::Images in{{1, 4}, {kNan, kNan, 1, 2, 3, 4, kNan, kNan}};
  EXPECT_THAT(mixed(plan, in), ElementsAre(3, 4, 1, 2));
}

TEST_P(MixBlocks, TermsHaveMasksOfTheirOwn) {
  MixPlan plan = test::plan_of({1, 4}, FlatMask{0.5});
  plan.fields = {1, 0, 0, 0.5f, 1, 0, 0.25f, 0};
  plan.terms = {
      {{0}, 0.5, GridMask{0, 1, 2}}, {{1}, 0.375, FieldMask{2}}, {{2}, 0.0625, FieldMask{4}}};
  plan.entries[0].term_count = 3;
  const test::Images in{{1, 4}, {8, 8, 8, 8, 4, 4, 4, 4, 16, kNan, 16, kNan}};
  EXPECT_THAT(mixed(plan, in), ElementsAre(24, 10, 8, 0));
}

TEST_P(MixBlocks, WhereNoTermHasAnyWeightThereIsNothing) {
  MixPlan plan = test::plan_of({1, 2}, FlatMask{0.5});
  plan.fields = {0, 1};
  plan.terms = {{{0}, 0.5, GridMask{0, 1, 2}}, {{1}, 0.5, GridMask{0, 1, 2}}};
  plan.entries[0].term_count = 2;
  const std::vector<float> out = mixed(plan, {{1, 2}, {kNan, -0.0f, kNan, -0.0f}});
  EXPECT_EQ(out[0], 0);
  EXPECT_FALSE(std::signbit(out[0]));
  EXPECT_TRUE(std::signbit(out[1]));  // a sum of -0 is -0
}

TEST_P(MixBlocks, TilesMoveWithinTheWindow) {
  MixPlan plan = test::plan_of({2, 4}, FlatMask{1});
  plan.tile_maps = {{2, 2, {3, 1, 0, 2}}};
  plan.entries[0].own.tiles = 0;
  const test::Images in{{2, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0}};
  EXPECT_THAT(mixed(plan, in), ElementsAre(6, 7, 2, 3, 0, 1, 4, 5));
}

TEST_P(MixBlocks, TilesMoveBeforeCropAndFlip) {
  MixPlan plan = test::plan_of({1, 4}, FlatMask{1});
  plan.tile_maps = {{1, 2, {1, 1}}};
  plan.entries[0].own = {.index = 0, .dy = 0, .dx = 1, .flip = true, .tiles = 0};
  const test::Images in{{1, 4}, {0, 1, 2, 3, 0, 0, 0, 0}};
  // The window shows 3 (padding), 2, 1 mirrored: {0, 3, 2, 1}.
  EXPECT_THAT(mixed(plan, in), ElementsAre(2, 1, 2, 1));
}

INSTANTIATE_TEST_SUITE_P(Backends, MixBlocks, testing::Values(Backend::reference, Backend::cpu),
                         test::backend_name);

// Blocks of the grid are those of pixels, not of the values of a row.
TEST(MixBlocksOfTwoChannels, AreThoseOfPixels) {
  MixPlan plan = test::plan_of({1, 3}, GridMask{0, 1, 2});
  plan.fields = {1, 0};
  const std::vector<float> in = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
  std::vector<float> out(6);
  for (const Backend backend : {Backend::reference, Backend::cpu}) {
    mix(plan, view_of(in, {2, 2, 1, 3}, Layout::nhwc),
        mutable_view_of(out, {1, 2, 1, 3}, Layout::nhwc), {.backend = backend});
    EXPECT_THAT(out, ElementsAre(1, 2, 3, 4, 50, 60));
  }
}

TEST(OpenPlans, AreRefusedByEverythingThatAppliesThem) {
  MixPlan plan = test::plan_of({1, 2}, OpenMask{});
  const std::vector<float> in(4);
  std::vector<float> out(2);
  const std::vector<std::int64_t> labels = {0, 1, 0, 1};
  std::vector<std::int64_t> map(2);
  const auto refused = [](const auto& call) {
    EXPECT_THAT(call, ThrowsMessage<InvalidArgument>(HasSubstr(
                          "entry 0 of the plan is open: its mask is still to be decided; solve "
                          "the plan first")));
  };
  refused([&] { mix(plan, view_of(in, {2, 1, 1, 2}), mutable_view_of(out, {1, 1, 1, 2})); });
  refused([&] { (void)mix_labels(plan, std::span(labels).first(2)); });
  refused([&] { mix_vectors(plan, in, 2, out); });
  refused([&] { mix_class_maps(plan, {labels, 2, {1, 2}}, map); });
  EXPECT_NO_THROW(validate(plan));
  EXPECT_EQ(plan_from_json(to_json(plan, true)), plan);
}

TEST(BlockLabels, AreTheWeightsOfTerms) {
  MixPlan plan = test::plan_of({1, 4}, FlatMask{0.5});
  plan.fields = {1, 0};
  plan.terms = {{{0}, 0.5, GridMask{0, 1, 2}}, {{1}, 0.25}};
  plan.entries[0].term_count = 2;
  EXPECT_THAT(mix_labels(plan, std::vector<std::int64_t>{5, 6}).weights, ElementsAre(0.5, 0.25));
}

TEST(BlockLabels, ClassMapsFollowMasksAndTiles) {
  MixPlan plan = test::plan_of({1, 4}, FlatMask{0.5});
  plan.fields = {1, 0};
  plan.tile_maps = {{1, 2, {1, 0}}};
  plan.terms = {{{0}, 0.5, GridMask{0, 1, 2}}, {{.index = 1, .tiles = 0}, 0.25}};
  plan.entries[0].term_count = 2;
  const std::vector<std::int64_t> maps = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::int64_t> out(4);
  mix_class_maps(plan, {maps, 2, {1, 4}}, out);
  EXPECT_THAT(out, ElementsAre(1, 2, 5, 6));
}

}  // namespace
}  // namespace medley
