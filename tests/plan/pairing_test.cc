#include "plan/pairing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/statistics.h"

namespace medley {
namespace {

using testing::ElementsAre;
using Indices = std::vector<std::int64_t>;

constexpr std::uint64_t kSeed = 4004;

Indices partners(const BatchPairing& rules, std::int64_t count, std::uint64_t batch = 0,
                 std::int32_t round = 1) {
  return draw_batch_partners(rules, count, round, kSeed, 0, batch);
}

bool is_permutation_of_batch(Indices indices) {
  std::ranges::sort(indices);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

bool has_fixed_point(const Indices& indices) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] == static_cast<std::int64_t>(i)) return true;
  }
  return false;
}

bool is_mutual(const Indices& indices) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[static_cast<std::size_t>(indices[i])] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// How often each outcome came in many batches.
std::map<Indices, std::int64_t> outcomes(const BatchPairing& rules, std::int64_t count,
                                         std::uint64_t batches) {
  std::map<Indices, std::int64_t> seen;
  for (std::uint64_t batch = 0; batch < batches; ++batch) ++seen[partners(rules, count, batch)];
  return seen;
}

void expect_uniform(const std::map<Indices, std::int64_t>& seen, std::size_t possible) {
  ASSERT_EQ(seen.size(), possible);
  std::vector<std::int64_t> counts;
  counts.reserve(seen.size());
  for (const auto& [outcome, times] : seen) counts.push_back(times);
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(possible - 1));
}

// ---- random partners within a batch ----

TEST(BatchPairing, IsAPermutation) {
  for (const std::int64_t count : {1, 2, 7, 128, 1000}) {
    EXPECT_TRUE(is_permutation_of_batch(partners({}, count))) << count;
  }
}

TEST(BatchPairing, IsUniformOverPermutations) { expect_uniform(outcomes({}, 4, 12000), 24); }

TEST(BatchPairing, WithoutSelfIsUniformOverDerangements) {
  expect_uniform(outcomes({.no_self = true, .labels = {}}, 4, 9000), 9);
  expect_uniform(outcomes({.no_self = true, .labels = {}}, 5, 22000), 44);
}

TEST(BatchPairing, DiffersFromBatchToBatchAndEpochToEpoch) {
  EXPECT_NE(partners({}, 64, 0), partners({}, 64, 1));
  EXPECT_NE(draw_batch_partners({}, 64, 1, kSeed, 0, 0),
            draw_batch_partners({}, 64, 1, kSeed, 1, 0));
  EXPECT_NE(draw_batch_partners({}, 64, 1, kSeed, 0, 0),
            draw_batch_partners({}, 64, 1, kSeed + 1, 0, 0));
}

TEST(BatchPairing, DrawsLaterPartnersIndependently) {
  std::vector<std::int64_t> joint(9);
  for (std::uint64_t batch = 0; batch < 9000; ++batch) {
    const Indices first = partners({}, 3, batch, 1), second = partners({}, 3, batch, 2);
    ++joint[static_cast<std::size_t>(3 * first[0] + second[0])];
  }
  EXPECT_LT(test::chi_square(joint), test::chi_square_bound(8));
}

// ---- pairs ----

TEST(MutualPairing, PairsEveryoneOfAnEvenBatch) {
  for (std::uint64_t batch = 0; batch < 50; ++batch) {
    const Indices indices = partners({.mutual = true, .labels = {}}, 10, batch);
    EXPECT_TRUE(is_mutual(indices));
    EXPECT_FALSE(has_fixed_point(indices));
  }
}

TEST(MutualPairing, LeavesOneOfAnOddBatch) {
  for (std::uint64_t batch = 0; batch < 50; ++batch) {
    const Indices indices = partners({.mutual = true, .labels = {}}, 7, batch);
    EXPECT_TRUE(is_mutual(indices));
    std::int64_t alone = 0;
    for (std::size_t i = 0; i < 7; ++i) alone += indices[i] == static_cast<std::int64_t>(i);
    EXPECT_EQ(alone, 1);
  }
}

TEST(MutualPairing, IsUniformOverMatchings) {
  expect_uniform(outcomes({.mutual = true, .labels = {}}, 4, 3000), 3);
  expect_uniform(outcomes({.mutual = true, .labels = {}}, 5, 7500), 15);
}

TEST(MutualPairing, KeepsToTheClassRule) {
  const Indices labels = {0, 1, 0, 1, 1, 2, 0, 0, 1, 2};
  for (std::uint64_t batch = 0; batch < 100; ++batch) {
    for (const ClassRule rule : {ClassRule::same, ClassRule::other}) {
      const Indices indices =
          partners({.mutual = true, .classes = rule, .labels = labels}, 10, batch);
      ASSERT_TRUE(is_mutual(indices));
      for (std::size_t i = 0; i < 10; ++i) {
        const auto partner = static_cast<std::size_t>(indices[i]);
        if (partner == i) continue;  // left over
        ASSERT_EQ(labels[i] == labels[partner], rule == ClassRule::same);
      }
    }
  }
}

// ---- classes ----

TEST(SameClassPairing, PermutesEachClass) {
  const Indices labels = {3, 1, 3, 1, 3, 7};
  for (std::uint64_t batch = 0; batch < 100; ++batch) {
    const Indices indices = partners({.classes = ClassRule::same, .labels = labels}, 6, batch);
    ASSERT_TRUE(is_permutation_of_batch(indices));
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_EQ(labels[i], labels[static_cast<std::size_t>(indices[i])]);
    }
  }
}

TEST(SameClassPairing, WithoutSelfLeavesOnlyTheSingleAlone) {
  const Indices labels = {3, 1, 3, 1, 3, 7};
  for (std::uint64_t batch = 0; batch < 100; ++batch) {
    const Indices indices =
        partners({.no_self = true, .classes = ClassRule::same, .labels = labels}, 6, batch);
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_EQ(indices[i] == static_cast<std::int64_t>(i), i == 5) << i;
    }
  }
}

TEST(OtherClassPairing, IsUniformOverTheOthers) {
  const Indices labels = {0, 0, 1, 2, 2};
  std::vector<std::int64_t> counts(5);
  for (std::uint64_t batch = 0; batch < 6000; ++batch) {
    const Indices indices = partners({.classes = ClassRule::other, .labels = labels}, 5, batch);
    ++counts[static_cast<std::size_t>(indices[0])];
  }
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1], 0);
  EXPECT_LT(test::chi_square(std::span(counts).subspan(2)), test::chi_square_bound(2));
}

TEST(OtherClassPairing, LeavesEveryoneAloneIfThereIsOneClass) {
  const Indices labels(4, 9);
  EXPECT_THAT(partners({.classes = ClassRule::other, .labels = labels}, 4),
              ElementsAre(0, 1, 2, 3));
}

// ---- fixed orders ----

TEST(ReversePairing, MirrorsTheBatch) {
  EXPECT_THAT(partners({.pairing = Pairing::reverse, .labels = {}}, 5), ElementsAre(4, 3, 2, 1, 0));
  EXPECT_THAT(partners({.pairing = Pairing::reverse, .labels = {}}, 4), ElementsAre(3, 2, 1, 0));
}

TEST(ReversePairing, WithoutSelfMovesTheMiddleOn) {
  EXPECT_THAT(partners({.pairing = Pairing::reverse, .no_self = true, .labels = {}}, 5),
              ElementsAre(4, 3, 3, 1, 0));
}

TEST(RollPairing, TakesTheNext) {
  EXPECT_THAT(partners({.pairing = Pairing::roll, .labels = {}}, 4), ElementsAre(1, 2, 3, 0));
}

TEST(RollPairing, RollsOnForLaterPartners) {
  EXPECT_THAT(partners({.pairing = Pairing::roll, .labels = {}}, 4, 0, 2), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(partners({.pairing = Pairing::roll, .labels = {}}, 4, 0, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(partners({.pairing = Pairing::roll, .no_self = true, .labels = {}}, 4, 0, 4),
              ElementsAre(1, 2, 3, 0));
}

TEST(BatchOfOne, IsItsOwnPartnerWhateverTheRules) {
  const Indices labels = {5};
  for (const Pairing pairing : {Pairing::batch, Pairing::reverse, Pairing::roll}) {
    for (const bool mutual : {false, true}) {
      for (const bool no_self : {false, true}) {
        for (const ClassRule rule : {ClassRule::any, ClassRule::same, ClassRule::other}) {
          EXPECT_THAT(partners({pairing, mutual, no_self, rule, labels}, 1), ElementsAre(0));
        }
      }
    }
  }
}

// ---- the data set ----

std::vector<std::int64_t> dataset_counts(const DatasetPairing& pairing, std::int64_t own,
                                         std::int64_t size, std::uint64_t draws,
                                         std::int32_t round = 1) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(size));
  for (std::uint64_t ordinal = 0; ordinal < draws; ++ordinal) {
    ++counts.at(static_cast<std::size_t>(pairing.draw(own, round, kSeed, 0, ordinal)));
  }
  return counts;
}

TEST(DatasetPairing, IsUniformAndMayBeSelf) {
  const DatasetPairing pairing(10, false, ClassRule::any, nullptr);
  EXPECT_LT(test::chi_square(dataset_counts(pairing, 3, 10, 20000)), test::chi_square_bound(9));
}

TEST(DatasetPairing, OfLaterPartnersIsUniformToo) {
  const DatasetPairing pairing(10, false, ClassRule::any, nullptr);
  EXPECT_LT(test::chi_square(dataset_counts(pairing, 3, 10, 20000, 3)), test::chi_square_bound(9));
}

TEST(DatasetPairing, WithoutSelfIsUniformOverTheOthers) {
  const DatasetPairing pairing(10, true, ClassRule::any, nullptr);
  for (const std::int64_t own : {0, 4, 9}) {
    auto counts = dataset_counts(pairing, own, 10, 20000);
    EXPECT_EQ(counts[static_cast<std::size_t>(own)], 0);
    counts.erase(counts.begin() + own);
    EXPECT_LT(test::chi_square(counts), test::chi_square_bound(8)) << own;
  }
}

/// Counts over the eligible indices only; the others must not occur.
void expect_uniform_over(const std::vector<std::int64_t>& counts, const std::set<std::size_t>& on) {
  std::vector<std::int64_t> eligible;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (on.contains(i)) {
      eligible.push_back(counts[i]);
    } else {
      EXPECT_EQ(counts[i], 0) << i;
    }
  }
  EXPECT_LT(test::chi_square(eligible), test::chi_square_bound(eligible.size() - 1));
}

TEST(DatasetPairing, OfTheSameClassIsUniformOverIt) {
  const ClassIndex index(Indices{2, 0, 2, 1, 2, 0, 2});
  const DatasetPairing pairing(7, false, ClassRule::same, &index);
  expect_uniform_over(dataset_counts(pairing, 2, 7, 8000), {0, 2, 4, 6});
}

TEST(DatasetPairing, OfTheSameClassWithoutSelfIsUniformOverTheRest) {
  const ClassIndex index(Indices{2, 0, 2, 1, 2, 0, 2});
  const DatasetPairing pairing(7, true, ClassRule::same, &index);
  expect_uniform_over(dataset_counts(pairing, 0, 7, 8000), {2, 4, 6});
  expect_uniform_over(dataset_counts(pairing, 2, 7, 8000), {0, 4, 6});
  expect_uniform_over(dataset_counts(pairing, 6, 7, 8000), {0, 2, 4});
}

TEST(DatasetPairing, OfAnotherClassIsUniformOverTheOthers) {
  const ClassIndex index(Indices{2, 0, 2, 1, 2, 0, 2});
  const DatasetPairing pairing(7, false, ClassRule::other, &index);
  expect_uniform_over(dataset_counts(pairing, 2, 7, 8000), {1, 3, 5});
  expect_uniform_over(dataset_counts(pairing, 3, 7, 8000), {0, 1, 2, 4, 5, 6});
}

TEST(DatasetPairing, WithoutAnEligiblePartnerIsSelf) {
  const ClassIndex one_class(Indices(4, 1));
  const ClassIndex all_differ(Indices{0, 1, 2, 3});
  EXPECT_EQ(DatasetPairing(4, false, ClassRule::other, &one_class).draw(2, 1, kSeed, 0, 0), 2);
  EXPECT_EQ(DatasetPairing(4, true, ClassRule::same, &all_differ).draw(2, 1, kSeed, 0, 0), 2);
  EXPECT_EQ(DatasetPairing(1, true, ClassRule::any, nullptr).draw(0, 1, kSeed, 0, 0), 0);
}

TEST(DatasetPairing, ReachesAllOfALargeDataSet) {
  constexpr std::int64_t kSize = std::int64_t{1} << 40;
  const DatasetPairing pairing(kSize, true, ClassRule::any, nullptr);
  std::int64_t largest = 0;
  for (std::uint64_t ordinal = 0; ordinal < 100; ++ordinal) {
    largest = std::max(largest, pairing.draw(0, 1, kSeed, 0, ordinal));
  }
  EXPECT_LT(largest, kSize);
  EXPECT_GT(largest, kSize / 2);  // missed with chance 2^-100
}

}  // namespace
}  // namespace medley
