// Random crops and flips, which the sampler writes into the sources of a plan.

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "medley/sampler.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr std::uint64_t kSeed = 6006;
constexpr ImageSize kSize{8, 8};

MixPolicy with_windows(Pairing pairing, Augment augment = {2, 0.5}) {
  MixPolicy policy;
  policy.pairing = pairing;
  policy.augment = augment;
  return policy;
}

TEST(Windows, AreWholeWithoutAugmentation) {
  for (const MixEntry& entry : test::draw_samples({}, kSize, kSeed, 50).entries) {
    EXPECT_TRUE(entry.own.whole());
    EXPECT_TRUE(entry.partner.whole());
  }
}

/// Which of 5 x 5 shifts and two directions a window of pad 2 has.
std::size_t kind_of(const Source& source) {
  return static_cast<std::size_t>(((source.dy + 2) * 5 + source.dx + 2) * 2 +
                                  (source.flip ? 1 : 0));
}

TEST(Windows, OfTheOwnImageAreUniformOverShiftsAndFlips) {
  std::vector<std::int64_t> counts(50);
  const MixPlan plan = test::draw_samples(with_windows(Pairing::dataset), kSize, kSeed, 20000);
  for (const MixEntry& entry : plan.entries) ++counts.at(kind_of(entry.own));
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(49));
}

TEST(Windows, OfADataSetPartnerAreUniformOverShiftsAndFlips) {
  std::vector<std::int64_t> counts(50);
  const MixPlan plan = test::draw_samples(with_windows(Pairing::dataset), kSize, kSeed, 20000);
  for (const MixEntry& entry : plan.entries) ++counts.at(kind_of(entry.partner));
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(49));
}

TEST(Windows, OfADataSetPartnerAreIndependentOfTheOwn) {
  // Both flips, jointly.
  std::vector<std::int64_t> counts(4);
  const MixPlan plan = test::draw_samples(with_windows(Pairing::dataset), kSize, kSeed, 20000);
  for (const MixEntry& entry : plan.entries) {
    ++counts.at((entry.own.flip ? 2 : 0) + (entry.partner.flip ? 1 : 0));
  }
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(3));
}

TEST(Windows, FlipWithTheirProbability) {
  constexpr std::size_t kDraws = 20000;
  for (const double flip : {0.0, 0.2, 1.0}) {
    double flips = 0;
    const MixPlan plan =
        test::draw_samples(with_windows(Pairing::dataset, {0, flip}), kSize, kSeed, kDraws);
    for (const MixEntry& entry : plan.entries) {
      flips += entry.own.flip ? 1 : 0;
      EXPECT_EQ(entry.own.dy, 0);
      EXPECT_EQ(entry.own.dx, 0);
    }
    EXPECT_NEAR(flips / kDraws, flip, test::frequency_bound(flip, kDraws) + 1e-12);
  }
}

TEST(Windows, ShowAPartnerOfTheBatchAsItSeesItself) {
  for (const Pairing pairing : {Pairing::batch, Pairing::reverse, Pairing::roll}) {
    for (const Mode mode : {Mode::sample, Mode::batch, Mode::pair}) {
      MixPolicy policy = with_windows(pairing);
      policy.mode = mode;
      const MixPlan plan = Sampler(policy, kSize, kSeed).plan({.batch = 9, .first = 27});
      for (const MixEntry& entry : plan.entries) {
        const auto position = static_cast<std::size_t>(entry.partner.index - plan.first);
        EXPECT_EQ(entry.partner, plan.entries.at(position).own);
      }
    }
  }
}

TEST(Windows, OfEverySourceOfTheBatchAreThoseItSeesItselfThrough) {
  MixPolicy policy = with_windows(Pairing::batch);
  policy.method = "nmixup";
  policy.method.set("n", 4);
  const MixPlan plan = Sampler(policy, kSize, kSeed).plan({.batch = 9, .first = 9});
  for (const MixTerm& term : plan.terms) {
    EXPECT_EQ(term.source, plan.entries.at(static_cast<std::size_t>(term.source.index - 9)).own);
  }
}

TEST(Windows, OfSeveralDataSetPartnersDiffer) {
  MixPolicy policy = with_windows(Pairing::dataset, {100, 0});
  policy.method = "nmixup";
  policy.method.set("n", 4);
  const MixPlan plan = test::draw_samples(policy, kSize, kSeed, 1);
  std::set<std::int32_t> shifts;
  for (const MixTerm& term : plan.terms) shifts.insert(term.source.dy * 1000 + term.source.dx);
  EXPECT_EQ(shifts.size(), 4u);
}

TEST(Windows, DependOnTheOrdinalAlone) {
  // The same sample in another mode, method or batch has the same window.
  const MixPlan a = Sampler(with_windows(Pairing::batch), kSize, kSeed).plan({.batch = 4});
  MixPolicy policy = with_windows(Pairing::reverse);
  policy.method = "fmix";
  policy.mode = Mode::batch;
  const MixPlan b = Sampler(policy, kSize, kSeed).plan({.batch = 8});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(a.entries[i].own, b.entries[i].own);
}

}  // namespace
}  // namespace medley
