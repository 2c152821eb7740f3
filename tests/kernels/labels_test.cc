#include "medley/labels.h"

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/mix_cases.h"

namespace medley {
namespace {

using test::plan_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Labels = std::vector<std::int64_t>;

/// Image 0 with image 1, the own label weighted by `weight`.
MixPlan weighted(double weight) {
  MixPlan plan = plan_of({1, 1}, FlatMask{weight});
  plan.entries[0].label_weight = weight;
  return plan;
}

/// Images 0, 1 and 2 with the given weights.
MixPlan three_sources(const std::vector<double>& weights, ImageSize size = {1, 1}) {
  MixPlan plan = plan_of(size, FlatMask{weights[0]});
  for (std::size_t k = 0; k < weights.size(); ++k) {
    plan.terms.push_back({{static_cast<std::int64_t>(k), 0, 0, false}, weights[k]});
  }
  plan.entries[0].term_count = static_cast<std::int32_t>(weights.size());
  return plan;
}

std::vector<float> soft(const MixedLabels& labels, std::int64_t classes, double smoothing = 0) {
  std::vector<float> rows(static_cast<std::size_t>(labels.count * classes));
  soft_labels(labels, classes, rows, smoothing);
  return rows;
}

// ---- classes ----

TEST(MixLabels, GivesBothClassesAndTheWeight) {
  const MixedLabels mixed = mix_labels(weighted(0.3), Labels{7, 4});
  EXPECT_EQ(mixed.count, 1);
  EXPECT_EQ(mixed.terms, 2);
  EXPECT_EQ(mixed.y_a(0), 7);
  EXPECT_EQ(mixed.y_b(0), 4);
  EXPECT_EQ(mixed.weight(0), 0.3);
  EXPECT_THAT(mixed.weights, ElementsAre(0.3, 0.7));
}

TEST(MixLabels, FollowsTheLabelWeightNotTheMask) {
  MixPlan plan = weighted(0.3);
  plan.entries[0].mask = FlatMask{0.9};
  EXPECT_EQ(mix_labels(plan, Labels{7, 4}).weight(0), 0.3);
}

TEST(MixLabels, ListsAllSourcesOfManySamples) {
  const MixedLabels mixed = mix_labels(three_sources({0.5, 0.25, 0.25}), Labels{7, 4, 9});
  EXPECT_EQ(mixed.terms, 3);
  EXPECT_THAT(mixed.classes, ElementsAre(7, 4, 9));
  EXPECT_THAT(mixed.weights, ElementsAre(0.5, 0.25, 0.25));
}

TEST(MixLabels, FillsShorterEntriesWithTheOwnClass) {
  MixPlan plan = three_sources({0.5, 0.25, 0.25});
  plan.entries.push_back(weighted(0.3).entries[0]);
  const MixedLabels mixed = mix_labels(plan, Labels{7, 4, 9});
  EXPECT_THAT(mixed.classes, ElementsAre(7, 4, 9, 7, 4, 7));
  EXPECT_THAT(mixed.weights, ElementsAre(0.5, 0.25, 0.25, 0.3, 0.7, 0));
}

TEST(MixLabels, CountsFromTheBaseOfThePlan) {
  MixPlan plan = weighted(0.25);
  plan.base = 50;
  plan.entries[0].own.index = 51;
  plan.entries[0].partner.index = 50;
  const MixedLabels mixed = mix_labels(plan, Labels{7, 4});
  EXPECT_EQ(mixed.y_a(0), 4);
  EXPECT_EQ(mixed.y_b(0), 7);
}

TEST(MixLabels, RefusesALabelOutOfRange) {
  EXPECT_THAT(
      [] {
        (void)mix_labels(weighted(0.5), Labels{3, 10}, 10);
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("[0, 10)"), HasSubstr("got 10 at 1"))));
  EXPECT_THAT(
      [] {
        (void)mix_labels(weighted(0.5), Labels{-1, 3}, 10);
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("[0, 10)"), HasSubstr("got -1 at 0"))));
  EXPECT_THAT(
      [&] {
        (void)mix_labels(weighted(0.5), Labels{3, -1});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("labels must be >= 0, got -1 at 1")));
  EXPECT_NO_THROW((void)mix_labels(weighted(0.5), Labels{3, 10}));
  EXPECT_EQ(mix_labels(weighted(0.5), Labels{3, -100}, 10, -100).y_b(0), -100);
  EXPECT_THROW((void)mix_labels(weighted(0.5), Labels{3, -1}, 10, -100), InvalidArgument);
}

TEST(MixLabels, RefusesTooFewLabels) {
  EXPECT_THAT(
      [] { (void)mix_labels(weighted(0.5), Labels{3}); },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("image 1"), HasSubstr("labels for 1"))));
}

TEST(MixLabels, RefusesABrokenPlan) {
  MixPlan plan = weighted(0.5);
  plan.entries[0].label_weight = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)mix_labels(plan, Labels{3, 4}), InvalidArgument);
}

// ---- soft rows ----

TEST(SoftLabels, PutTheWeightsAtTheClasses) {
  EXPECT_THAT(soft(mix_labels(weighted(0.25), Labels{2, 0}), 4), ElementsAre(0.75f, 0, 0.25f, 0));
}

TEST(SoftLabels, OfOneClassAreExactlyOneHot) {
  for (const double weight : {0.1, 0.3, 1.0 / 3, 0.7, 0.123456789}) {
    EXPECT_THAT(soft(mix_labels(weighted(weight), Labels{1, 1}), 3), ElementsAre(0, 1.0f, 0));
  }
}

TEST(SoftLabels, OfManySourcesOfOneClassAreExactlyOneHot) {
  EXPECT_THAT(soft(mix_labels(three_sources({0.1, 0.2, 0.7}), Labels{1, 1, 1}), 2),
              ElementsAre(0, 1.0f));
}

TEST(SoftLabels, AddUpRepeatedClasses) {
  EXPECT_THAT(soft(mix_labels(three_sources({0.5, 0.25, 0.25}), Labels{1, 0, 1}), 2),
              ElementsAre(0.25f, 0.75f));
}

TEST(SoftLabels, SmoothOneAndZero) {
  // 1 - e + e/C and e/C, with e = 0.1 and C = 4.
  EXPECT_THAT(soft(mix_labels(weighted(1), Labels{2, 0}), 4, 0.1),
              ElementsAre(0.025f, 0.025f, 0.925f, 0.025f));
}

TEST(SoftLabels, SmoothBeforeMixing) {
  const std::vector<float> row = soft(mix_labels(weighted(0.25), Labels{2, 0}), 4, 0.1);
  EXPECT_FLOAT_EQ(row[0], 0.75f * 0.925f + 0.25f * 0.025f);
  EXPECT_FLOAT_EQ(row[1], 0.025f);
  EXPECT_FLOAT_EQ(row[2], 0.25f * 0.925f + 0.75f * 0.025f);
}

TEST(SoftLabels, SumToOneForEveryMethod) {
  constexpr ImageSize kSize{6, 5};
  constexpr float kRounding = 5 * 0x1p-24f;  // five terms rounded to float
  const Labels labels = {0, 4, 2, 2, 1, 3, 0, 4};
  for (const MethodInfo* info : methods()) {
    MixPolicy policy;
    policy.method = info->name;
    policy.method.set_if_used(
        "masks", std::make_shared<MaskSet>(MaskSet{kSize, std::vector<float>(30, 0.4f)}));
    const MixPlan plan = Sampler(policy, kSize, 3).plan({.batch = 8});
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      const std::vector<float> rows = soft(mix_labels(plan, labels, 5), 5, smoothing);
      for (std::size_t b = 0; b < 8; ++b) {
        const auto row = rows.begin() + static_cast<std::ptrdiff_t>(5 * b);
        EXPECT_NEAR(std::accumulate(row, row + 5, 0.0f), 1, kRounding) << info->name;
      }
    }
  }
}

TEST(SoftLabels, RefuseWrongArguments) {
  const MixedLabels mixed = mix_labels(weighted(0.5), Labels{2, 0});
  std::vector<float> rows(4);
  EXPECT_THAT([&] { soft_labels(mixed, 0, rows); },
              ThrowsMessage<InvalidArgument>(HasSubstr("num_classes must be >= 1, got 0")));
  EXPECT_THAT([&] { soft_labels(mixed, 5, rows); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("1x5"), HasSubstr("got 4"))));
  EXPECT_THAT([&] { soft_labels(mixed, 4, rows, 1.5); },
              ThrowsMessage<InvalidArgument>(HasSubstr("smoothing must be in [0, 1], got 1.5")));
  EXPECT_THAT([&] { soft_labels(mixed, 2, std::span(rows).first(2)); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("[0, 2)"), HasSubstr("got 2"))));
}

// ---- vectors ----

TEST(SoftLabels, RefuseLabelsThatAreNotThere) {
  MixedLabels labels;
  labels.count = 4;
  labels.classes = {0};
  std::vector<float> rows(16);
  EXPECT_THAT([&] { soft_labels(labels, 4, rows); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("4x2"), HasSubstr("got 1"))));
  labels.terms = 0;
  EXPECT_THAT([&] { soft_labels(labels, 4, rows); },
              ThrowsMessage<InvalidArgument>(HasSubstr(">= 1 term")));
}

TEST(MixVectors, MixesRowsLinearly) {
  const std::vector<float> in = {4, -2, 0.5f, 8, 6, 0};
  std::vector<float> out(3);
  mix_vectors(weighted(0.25), in, 3, out);
  EXPECT_THAT(out, ElementsAre(7, 4, 0.125f));
}

TEST(MixVectors, SumsManySources) {
  const std::vector<float> in = {4, 8, 16};
  std::vector<float> out(1);
  mix_vectors(three_sources({0.5, 0.25, 0.25}), in, 1, out);
  EXPECT_THAT(out, ElementsAre(8));
}

TEST(MixVectors, LeavesOutWhatHasNoWeight) {
  const std::vector<float> in = {4, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> out(1);
  mix_vectors(weighted(1), in, 1, out);
  EXPECT_THAT(out, ElementsAre(4));
}

TEST(MixVectors, AgreesWithSoftLabels) {
  const std::vector<float> one_hot = {0, 0, 1, 1, 0, 0};
  std::vector<float> out(3);
  mix_vectors(weighted(0.3), one_hot, 3, out);
  EXPECT_EQ(out, soft(mix_labels(weighted(0.3), Labels{2, 0}), 3));
}

TEST(MixVectors, IsNotInPlace) {
  MixPlan plan;
  plan.size = {1, 1};
  plan.entries.resize(2);
  plan.entries[0].partner.index = plan.entries[1].own.index = 1;
  std::vector<float> rows(2);
  EXPECT_THAT([&] { mix_vectors(plan, rows, 1, rows); },
              ThrowsMessage<InvalidArgument>(HasSubstr("separate memory")));
  std::vector<std::int64_t> maps(2);
  EXPECT_THAT(
      [&] {
        mix_class_maps(plan, {maps, 2, {1, 1}}, maps);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("separate memory")));
}

TEST(MixVectors, RefusesWrongSizes) {
  const std::vector<float> in(7);
  std::vector<float> out(3);
  EXPECT_THAT([&] { mix_vectors(weighted(0.5), in, 3, out); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("width 3"), HasSubstr("got 7"))));
  EXPECT_THAT([&] { mix_vectors(weighted(0.5), in, 7, out); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("1x7"), HasSubstr("got 3"))));
  EXPECT_THAT([&] { mix_vectors(weighted(0.5), in, 0, out); },
              ThrowsMessage<InvalidArgument>(HasSubstr("width >= 1, got 0")));
  EXPECT_THAT([&] { mix_vectors(weighted(0.5), std::span(in).first(3), 3, out); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("image 1"), HasSubstr("for 1"))));
}

// ---- maps ----

Labels mapped(const MixPlan& plan, const ClassMaps& in, std::int64_t padding = -1) {
  Labels out(plan.entries.size() * static_cast<std::size_t>(plan.size.pixels()));
  mix_class_maps(plan, in, out, padding);
  return out;
}

std::vector<float> mapped_soft(const MixPlan& plan, const ClassMaps& in, std::int64_t classes,
                               std::int64_t ignore = -1) {
  std::vector<float> out(plan.entries.size() *
                         static_cast<std::size_t>(plan.size.pixels() * classes));
  mix_class_maps_soft(plan, in, classes, out, ignore);
  return out;
}

const Labels kMaps = {0, 1, 2,   // image 0, 1x3
                      2, 2, 0};  // image 1

TEST(MixClassMaps, FollowTheBox) {
  EXPECT_THAT(mapped(plan_of({1, 3}, BoxMask{0, 1, 1, 2, 0, 1}), {kMaps, 2, {1, 3}}),
              ElementsAre(0, 2, 0));
}

TEST(MixClassMaps, TakeTheGreaterWeightAndTheOwnAtATie) {
  EXPECT_THAT(mapped(plan_of({1, 3}, FlatMask{0.49}), {kMaps, 2, {1, 3}}), ElementsAre(2, 2, 0));
  EXPECT_THAT(mapped(plan_of({1, 3}, FlatMask{0.5}), {kMaps, 2, {1, 3}}), ElementsAre(0, 1, 2));
}

TEST(MixClassMaps, TakeTheGreatestOfManySources) {
  const Labels maps = {0, 1, 2};
  EXPECT_THAT(mapped(three_sources({0.3, 0.3, 0.4}), {maps, 3, {1, 1}}), ElementsAre(2));
  EXPECT_THAT(mapped(three_sources({0.3, 0.4, 0.3}), {maps, 3, {1, 1}}), ElementsAre(1));
}

TEST(MixClassMaps, GoThroughWindows) {
  MixPlan plan = plan_of({1, 3}, BoxMask{0, 2, 1, 1, 0, 1});
  plan.entries[0].own.dx = -1;
  plan.entries[0].partner.flip = true;
  EXPECT_THAT(mapped(plan, {kMaps, 2, {1, 3}}, 255), ElementsAre(255, 0, 2));
}

TEST(MixClassMaps, OfAnotherSizeNeedWindows) {
  const MixPlan plan = plan_of({1, 2}, BoxMask{0, 1, 1, 1, 0, 1});
  const auto refused = ThrowsMessage<InvalidArgument>(
      HasSubstr("class maps must have the plan's size, 1x2 (height x width), got 1x3"));
  EXPECT_THAT([&] { (void)mapped(plan, {kMaps, 2, {1, 3}}); }, refused);
  EXPECT_THAT([&] { (void)mapped_soft(plan, {kMaps, 2, {1, 3}}, 3); }, refused);
  EXPECT_THAT(mapped(plan, {kMaps, 2, {1, 3}, true}), ElementsAre(0, 2));
  EXPECT_THAT(mapped(plan, {kMaps, 3, {2, 1}, true}, 9), ElementsAre(0, 9));
}

TEST(MixClassMaps, CannotFollowAResampledPartner) {
  MixPlan plan = plan_of({1, 3}, BoxMask{0, 1, 1, 2, 0, 1});
  plan.entries[0].resample = Resample::nearest;
  EXPECT_THAT(
      [&] {
        (void)mapped(plan, {kMaps, 2, {1, 3}});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("resampled")));
}

TEST(MixClassMaps, RefuseWrongSizes) {
  const MixPlan plan = plan_of({1, 3}, FlatMask{0.5});
  EXPECT_THAT(
      [&] {
        (void)mapped(plan, {kMaps, 3, {1, 3}});
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("3x3"), HasSubstr("got 6"))));
  EXPECT_THAT(
      [&] {
        (void)mapped(plan, {kMaps, 2, {0, 3}});
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("1x1"), HasSubstr("0x3"))));
  EXPECT_THAT(
      [&] {
        (void)mapped(plan, {std::span(kMaps).first(3), 1, {1, 3}});
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("image 1"), HasSubstr("1 images"))));
  Labels out(2);
  EXPECT_THAT(
      [&] {
        mix_class_maps(plan, {kMaps, 2, {1, 3}}, out);
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("1x3"), HasSubstr("got 2"))));
}

TEST(MixClassMapsSoft, WeighClassesByTheMask) {
  EXPECT_THAT(mapped_soft(plan_of({1, 3}, FlatMask{0.25}), {kMaps, 2, {1, 3}}, 3),
              ElementsAre(0.25f, 0, 0.75f,  // class 0
                          0, 0.25f, 0,      // class 1
                          0.75f, 0.75f, 0.25f));
}

TEST(MixClassMapsSoft, SumToOneExactlyWhereClassesAgree) {
  const Labels maps = {1, 1, 1, 1};
  EXPECT_THAT(mapped_soft(plan_of({1, 2}, FlatMask{0.3}), {maps, 2, {1, 2}}, 2),
              ElementsAre(0, 0, 1, 1));
}

TEST(MixClassMapsSoft, LeaveIgnoredPixelsAndPaddingOut) {
  const Labels maps = {0, 255, 1, 1};
  MixPlan plan = plan_of({1, 2}, FlatMask{0.25});
  plan.entries[0].partner.dx = 1;
  EXPECT_THAT(mapped_soft(plan, {maps, 2, {1, 2}}, 2, 255), ElementsAre(0.25f, 0,  //
                                                                        0.75f, 0));
}

TEST(MixClassMapsSoft, SumManySources) {
  const Labels maps = {0, 1, 0};
  EXPECT_THAT(mapped_soft(three_sources({0.5, 0.25, 0.25}), {maps, 3, {1, 1}}, 2),
              ElementsAre(0.75f, 0.25f));
}

TEST(MixClassMapsSoft, RefuseAClassOutOfRange) {
  const Labels maps = {0, 7, 1, 1};
  EXPECT_THAT(
      [&] {
        (void)mapped_soft(plan_of({1, 2}, FlatMask{0.25}), {maps, 2, {1, 2}}, 2);
      },
      ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("[0, 2) or -1"), HasSubstr("got 7"))));
}

TEST(MixClassMapsSoft, RefuseNoClasses) {
  std::vector<float> out;
  EXPECT_THAT(
      [&] {
        mix_class_maps_soft(plan_of({1, 3}, FlatMask{0.25}), {kMaps, 2, {1, 3}}, 0, out);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("num_classes must be >= 1, got 0")));
}

// ---- together with the sampler ----

TEST(Labels, OfSameClassPairsAreOneHotForEveryMethod) {
  constexpr ImageSize kSize{6, 5};
  const Labels labels = {0, 1, 0, 1, 2, 2, 0, 1};
  for (const MethodInfo* info : methods()) {
    MixPolicy policy;
    policy.method = info->name;
    policy.classes = ClassRule::same;
    policy.method.set_if_used(
        "masks", std::make_shared<MaskSet>(MaskSet{kSize, std::vector<float>(30, 0.4f)}));
    const MixPlan plan = Sampler(policy, kSize, 4).plan({.batch = 8, .labels = labels});
    const std::vector<float> rows = soft(mix_labels(plan, labels, 3), 3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i], labels[i / 3] == static_cast<std::int64_t>(i % 3) ? 1.0f : 0.0f)
          << info->name << " sample " << i / 3;
    }
  }
}

}  // namespace
}  // namespace medley
