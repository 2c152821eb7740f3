#include "medley/plan_edit.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "plan/plans.h"
#include "support/batches.h"

namespace medley::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr ImageSize kSize{6, 10};
constexpr std::int64_t kBatch = 8;

MixPlan batch_plan(std::string_view method, double prob = 1) {
  MixPolicy policy = policy_of(method, kSize);
  policy.prob = prob;
  return Sampler(policy, kSize, 7).plan({.batch = kBatch, .first = 3 * kBatch, .count = kBatch});
}

std::vector<float> random_images() {
  std::vector<float> images;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < kBatch * kSize.pixels(); ++i) {
    state = state * 1664525 + 1013904223;
    images.push_back(static_cast<float>(state >> 8));
  }
  return images;
}

BatchShape shape_of(std::int64_t count) { return {count, 1, kSize.height, kSize.width}; }

std::vector<float> mixed(const MixPlan& plan, const std::vector<float>& images) {
  const std::int64_t count = std::ssize(plan.entries);
  std::vector<float> out(static_cast<std::size_t>(count * kSize.pixels()));
  mix(plan, view_of(images, shape_of(std::ssize(images) / kSize.pixels()), Layout::nchw),
      mutable_view_of(out, shape_of(count), Layout::nchw));
  return out;
}

class PlanEditOf : public testing::TestWithParam<std::string> {};

TEST_P(PlanEditOf, ShardsOfABatchAreItsParts) {
  const MixPlan whole = batch_plan(GetParam());
  const std::vector<float> images = random_images();
  std::vector<float> parts;
  for (std::int64_t begin = 0; begin < kBatch; begin += 3) {
    const MixPlan shard = slice(whole, begin, std::min<std::int64_t>(3, kBatch - begin));
    EXPECT_EQ(shard.first, whole.first + begin);
    EXPECT_LE(shard.fields.size(), 3 * static_cast<std::size_t>(kSize.pixels()));
    const std::vector<float> part = mixed(shard, images);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  EXPECT_EQ(parts, mixed(whole, images));
}

TEST_P(PlanEditOf, ShardsAppendedAreTheWholeAgain) {
  const MixPlan whole = batch_plan(GetParam());
  MixPlan joined = slice(whole, 0, 3);
  append(joined, slice(whole, 3, 5));
  EXPECT_EQ(joined, whole);
}

TEST_P(PlanEditOf, APlanMayBeAppendedToItself) {
  MixPlan twice = batch_plan(GetParam());
  const std::vector<float> once = mixed(twice, random_images());
  append(twice, twice);
  std::vector<float> expected = once;
  expected.insert(expected.end(), once.begin(), once.end());
  EXPECT_EQ(mixed(twice, random_images()), expected);
}

TEST_P(PlanEditOf, AReplacedEntryMixesAsWhereItCameFrom) {
  MixPlan plan = batch_plan("mixup");
  const MixPlan other = batch_plan(GetParam());
  replace(plan, 2, other, 5);
  EXPECT_EQ(mixed(slice(plan, 2, 1), random_images()), mixed(slice(other, 5, 1), random_images()));
}

TEST_P(PlanEditOf, CompactPlansMixTheGatheredImagesAlike) {
  const std::vector<float> images = random_images();
  MixPlan plan = slice(batch_plan(GetParam(), 0.5), 2, 4);
  const std::vector<float> expected = mixed(plan, images);
  const std::vector<std::int64_t> needed = compact_sources(plan);
  std::vector<float> gathered;
  for (const std::int64_t image : needed) {
    const auto begin = images.begin() + image * kSize.pixels();
    gathered.insert(gathered.end(), begin, begin + kSize.pixels());
  }
  EXPECT_EQ(plan.base, 0);
  EXPECT_EQ(mixed(plan, gathered), expected);
}

TEST_P(PlanEditOf, RelabeledPlansMixFromTheDataSet) {
  const std::vector<float> images = random_images();
  const std::vector<std::int64_t> names = {3, 1, 4, 7, 0, 6, 2, 5};
  std::vector<float> data_set(images.size());
  for (std::int64_t i = 0; i < kBatch; ++i) {
    std::copy_n(images.begin() + i * kSize.pixels(), kSize.pixels(),
                data_set.begin() + names[static_cast<std::size_t>(i)] * kSize.pixels());
  }
  MixPlan plan = batch_plan(GetParam());
  const std::vector<float> expected = mixed(plan, images);
  relabel(plan, names);
  EXPECT_EQ(mixed(plan, data_set), expected);
}

INSTANTIATE_TEST_SUITE_P(PlanEdit, PlanEditOf, testing::ValuesIn(method_names()),
                         [](const auto& test) { return test_name(test.param); });

/// Terms with masks, grids, moved tiles.
MixPlan block_plan(std::uint64_t seed, const char* method = "cutmix") {
  MixPlan plan = batch_plan(method);
  add_blocks(plan, seed, Blocks::all);
  return plan;
}

TEST(PlanEdit, ShardsOfABatchOfBlocksAreItsParts) {
  const std::vector<float> images = random_images();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const MixPlan whole = block_plan(seed, seed % 2 == 0 ? "nmixup" : "cutmix");
    const std::vector<float> expected = mixed(whole, images);
    std::vector<float> parts;
    MixPlan joined = slice(whole, 0, 0);
    for (std::int64_t begin = 0; begin < kBatch; begin += 3) {
      const MixPlan shard = slice(whole, begin, std::min<std::int64_t>(3, kBatch - begin));
      EXPECT_LE(shard.tile_maps.size(), whole.tile_maps.size());
      EXPECT_LE(shard.fields.size(), whole.fields.size());
      const std::vector<float> part = mixed(plan_from_json(to_json(shard, true)), images);
      parts.insert(parts.end(), part.begin(), part.end());
      append(joined, shard);
    }
    ASSERT_EQ(parts, expected) << seed;
    ASSERT_EQ(mixed(joined, images), expected) << seed;
    // From the images that are needed alone, counted anew.
    MixPlan compact = whole;
    const std::vector<std::int64_t> needed = compact_sources(compact);
    std::vector<float> gathered;
    for (const std::int64_t image : needed) {
      const auto from = images.begin() + image * kSize.pixels();
      gathered.insert(gathered.end(), from, from + kSize.pixels());
    }
    ASSERT_EQ(mixed(compact, gathered), expected) << seed;
  }
}

TEST(PlanEdit, WhatEntriesShareIsCopiedOnce) {
  MixPlan plan;
  plan.size = {2, 4};
  plan.fields = {9, 9, 1, 0, 0.5F, 0.25F};
  plan.tile_maps = {{1, 1, {0}}, {2, 2, {3, 2, 1, 0}}};
  plan.terms = {{{0}, 0.5, GridMask{2, 2, 2}}, {{.index = 1, .tiles = 1}, 0.5}};
  plan.entries = {{.own = {.index = 0, .tiles = 1}, .partner = {1}, .mask = GridMask{2, 2, 2}},
                  {.own = {0}, .partner = {1}, .mask = GridMask{2, 1, 2}},
                  {.own = {0}, .partner = {1}, .mask = {}, .term_begin = 0, .term_count = 2}};
  const MixPlan part = slice(plan, 0, 3);
  EXPECT_EQ(part.tile_maps, (std::vector<TileMap>{{2, 2, {3, 2, 1, 0}}}));
  EXPECT_THAT(part.fields, ElementsAre(1, 0, 0.5F, 0.25F, 1, 0));
  EXPECT_EQ(part.entries[0].mask, Mask(GridMask{0, 2, 2}));
  EXPECT_EQ(part.entries[1].mask, Mask(GridMask{4, 1, 2}));
  EXPECT_EQ(part.terms[0].mask, TermMask(GridMask{0, 2, 2}));
  EXPECT_EQ(part.entries[0].own.tiles, 0);
  EXPECT_EQ(part.terms[1].source.tiles, 0);
}

TEST(PlanEdit, OpenEntriesStayOpen) {
  MixPlan plan = batch_plan("cutmix");
  plan.entries[2] = {.own = {24}, .partner = {25}, .mask = OpenMask{}};
  MixPlan part = slice(plan, 2, 1);
  EXPECT_TRUE(is_open(part));
  EXPECT_FALSE(is_open(slice(plan, 3, 2)));
  EXPECT_EQ(compact_sources(part).size(), 2u);
}

TEST(CompactSources, DropsImagesThatNoBlockShows) {
  MixPlan plan;
  plan.size = {2, 2};
  plan.fields = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0.5F};
  plan.entries = {
      {.own = {0}, .partner = {10}, .mask = GridMask{0, 2, 2, GridInterpolation::bilinear}},
      {.own = {1}, .partner = {11}, .mask = GridMask{4, 2, 2}, .label_weight = 0},
      {.own = {2}, .partner = {12}, .mask = GridMask{8, 1, 2}, .label_weight = 0},
      {.own = {3}, .partner = {13}, .mask = {}, .term_begin = 0, .term_count = 4}};
  plan.terms = {{{3}, 0, GridMask{4, 2, 2}},  // neither pixels nor label
                {{13}, 1},
                {{23}, 0, FieldMask{6}},     // a pixel
                {{33}, 0.5, FieldMask{4}}};  // the label
  EXPECT_THAT(compact_sources(plan), ElementsAre(0, 11, 2, 13, 12, 23, 33));
  EXPECT_EQ(plan.terms[0].source, plan.terms[1].source);
}

TEST(CompactSources, CountsImagesFromZeroAndTheirNumbersFromTheBase) {
  MixPlan plan;
  plan.size = {1, 1};
  plan.base = 100;
  plan.entries.resize(3);
  plan.entries[0] = {.own = {107}, .partner = {103}, .mask = FlatMask{0.5}, .label_weight = 0.5};
  plan.entries[1] = {.own = {103}, .partner = {105}, .mask = FlatMask{0.5}, .label_weight = 0.5};
  plan.entries[2] = {.own = {107}, .partner = {101}, .mask = {}, .term_begin = 0, .term_count = 2};
  plan.terms = {{{107}, 0.5}, {{101}, 0.5}};
  EXPECT_THAT(compact_sources(plan), ElementsAre(7, 3, 5, 1));
  EXPECT_EQ(plan.base, 0);
  EXPECT_EQ(plan.entries[0].own.index, 0);
  EXPECT_EQ(plan.entries[0].partner.index, 1);
  EXPECT_EQ(plan.entries[1].partner.index, 2);
  EXPECT_EQ(plan.terms[1].source.index, 3);
}

TEST(CompactSources, DropsPartnersThatNeitherPixelNorLabelSees) {
  MixPlan plan;
  plan.size = {2, 2};
  const auto entry = [&](std::int64_t own, Mask mask, double label_weight) {
    plan.entries.push_back(
        {.own = {own}, .partner = {own + 10}, .mask = mask, .label_weight = label_weight});
  };
  plan.fields = {1, 1, 1, 1, 1, 1, 1, 0.5F};
  entry(0, FlatMask{1}, 1);
  entry(1, BoxMask{.height = 0, .width = 2}, 1);
  entry(2, FieldMask{0}, 1);
  entry(3, FlatMask{1}, 0.9);                     // the label sees its partner
  entry(4, BoxMask{.height = 1, .width = 1}, 1);  // a pixel does
  entry(5, FieldMask{4}, 1);                      // so here
  plan.entries.push_back(
      {.own = {6}, .partner = {16}, .mask = {}, .term_begin = 0, .term_count = 3});
  plan.terms = {{{6}, 0.5}, {{16}, 0}, {{26}, 0.5}};
  EXPECT_THAT(compact_sources(plan), ElementsAre(0, 1, 2, 3, 4, 5, 6, 13, 14, 15, 26));
  EXPECT_EQ(plan.entries[1].partner, plan.entries[1].own);
  EXPECT_EQ(plan.entries[6].partner, plan.terms[1].source);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& problem) {
    return problem.what();
  }
  return "nothing was refused";
}

TEST(PlanEdit, PartsKeepTheVersionOfTheirDraws) {
  MixPlan plan = batch_plan("cutmix");
  plan.draws = kFirstDrawsVersion;
  EXPECT_EQ(slice(plan, 2, 3).draws, kFirstDrawsVersion);
}

TEST(PlanEdit, RefusesEntriesThatThereAreNot) {
  MixPlan plan = batch_plan("cutmix");
  EXPECT_THAT(refusal([&] { (void)slice(plan, 6, 3); }), HasSubstr("must be in [0, 8), got 3"));
  EXPECT_THAT(refusal([&] { (void)slice(plan, -1, 3); }), HasSubstr("must be in [0, 8)"));
  EXPECT_THAT(refusal([&] { replace(plan, 8, plan, 0); }), HasSubstr("must be in [0, 8)"));
  plan.entries[0].mask = FieldMask{5};
  EXPECT_THAT(refusal([&] { (void)slice(plan, 0, 1); }), HasSubstr("but the plan has 0"));
}

TEST(PlanEdit, RefusesPlansThatDoNotFitTogether) {
  MixPlan plan = batch_plan("cutmix");
  MixPlan other = plan;
  other.base = 5;
  EXPECT_THAT(refusal([&] { append(plan, other); }), HasSubstr("one size and base"));
  other = plan;
  other.size = {10, 6};
  EXPECT_THAT(refusal([&] { replace(plan, 0, other, 0); }), HasSubstr("6x10 from 24 and 10x6"));
}

TEST(Relabel, RefusesAPlanOfMoreImagesThanNames) {
  MixPlan plan = batch_plan("mixup");
  const std::vector<std::int64_t> names(7);
  EXPECT_THAT(refusal([&] { relabel(plan, names); }), HasSubstr("there are 7 names"));
}

}  // namespace
}  // namespace medley::test
