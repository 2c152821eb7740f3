#include "medley/random.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/statistics.h"

namespace medley {
namespace {

using Words = std::array<std::uint32_t, 4>;

constexpr std::uint64_t kSeed = 20240607;

RandomStream stream_of(std::uint64_t ordinal) { return {kSeed, 0, ordinal, Purpose::mask}; }

// ---- Philox: the known answers published with the generator ----

TEST(Philox, KnownAnswerForZeros) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
}

TEST(Philox, KnownAnswerForOnes) {
  constexpr std::uint32_t kOnes = 0xffffffffu;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
}

TEST(Philox, KnownAnswerForDigitsOfPi) {
  EXPECT_EQ(
      philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
      (Words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

// ---- streams ----

TEST(RandomStream, CountsBlocksInTheFirstWord) {
  RandomStream random(0x0123456789abcdefull, 5, 0xaa00000007ull, Purpose::lam);
  for (std::uint32_t block = 0; block < 3; ++block) {
    const Words expected = philox({block, 7, 5, 0xaa00u | 2u}, {0x89abcdefu, 0x01234567u});
    for (const std::uint32_t word : expected) EXPECT_EQ(random.next_u32(), word);
  }
}

TEST(RandomStream, EveryPartOfTheKeyMakesAnotherStream) {
  std::set<std::uint64_t> firsts;
  constexpr std::uint64_t kSeeds[] = {0, 1, std::uint64_t{1} << 32, ~std::uint64_t{0}};
  constexpr std::uint64_t kEpochs[] = {0, 1, kMaxEpoch};
  constexpr std::uint64_t kOrdinals[] = {0,
                                         1,
                                         0xffffffffu,
                                         std::uint64_t{1} << 32,
                                         (std::uint64_t{1} << 32) + 1,
                                         std::uint64_t{1} << 40,
                                         kMaxOrdinal};
  constexpr Purpose kPurposes[] = {Purpose::prob, Purpose::lam, Purpose::mask, Purpose::picture};
  for (const std::uint64_t seed : kSeeds) {
    for (const std::uint64_t epoch : kEpochs) {
      for (const std::uint64_t ordinal : kOrdinals) {
        for (const Purpose purpose : kPurposes) {
          firsts.insert(RandomStream(seed, epoch, ordinal, purpose).next_u64());
        }
      }
    }
  }
  EXPECT_EQ(firsts.size(), 4u * 3 * 7 * 4);
}

TEST(RandomStream, FirstDrawsOfNeighboringKeysAreUniform) {
  constexpr std::size_t kDraws = 20000;
  std::vector<double> by_seed, by_epoch, by_ordinal;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    by_seed.push_back(RandomStream(i, 0, 0, Purpose::lam).uniform());
    by_epoch.push_back(RandomStream(kSeed, i, 0, Purpose::lam).uniform());
    by_ordinal.push_back(RandomStream(kSeed, 0, i, Purpose::lam).uniform());
  }
  const auto identity = [](double x) { return x; };
  EXPECT_LT(test::ks_distance(by_seed, identity), test::ks_bound(kDraws));
  EXPECT_LT(test::ks_distance(by_epoch, identity), test::ks_bound(kDraws));
  EXPECT_LT(test::ks_distance(by_ordinal, identity), test::ks_bound(kDraws));
}

// ---- uniform numbers ----

TEST(Uniform, FollowsTheUniformDistribution) {
  constexpr std::size_t kDraws = 100000;
  RandomStream random = stream_of(1);
  std::vector<double> draws;
  for (std::size_t i = 0; i < kDraws; ++i) draws.push_back(random.uniform());
  EXPECT_LT(test::ks_distance(draws, [](double x) { return x; }), test::ks_bound(kDraws));
}

TEST(Uniform, UsesAll53Bits) {
  RandomStream random = stream_of(2);
  std::uint64_t seen = 0;
  for (int i = 0; i < 1000; ++i) seen |= static_cast<std::uint64_t>(random.uniform() * 0x1p53);
  EXPECT_EQ(seen, (std::uint64_t{1} << 53) - 1);
}

TEST(UniformPositive, IsOneMinusUniform) {
  RandomStream a = stream_of(3), b = stream_of(3);
  for (int i = 0; i < 1000; ++i) {
    const double positive = a.uniform_positive();
    ASSERT_EQ(positive, 1.0 - b.uniform());
    ASSERT_GT(positive, 0.0);
  }
}

class Below : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Below, IsUniform) {
  const std::uint32_t n = GetParam();
  constexpr int kDraws = 100000;
  RandomStream random = stream_of(n);
  std::vector<std::int64_t> counts(n);
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(n));
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(n - 1));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Below, testing::Values(2u, 3u, 7u, 10u, 224u, 1000u),
                         [](const auto& param) { return std::to_string(param.param); });

TEST(Below, OfOneIsZero) {
  RandomStream random = stream_of(4);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0u);
}

TEST(Below, HasNoBiasWhereAModuloWould) {
  // Of 3 * 2^30 values the plain product or remainder would give a third of them double weight.
  constexpr std::uint32_t kThird = std::uint32_t{1} << 30;
  constexpr int kDraws = 60000;
  RandomStream random = stream_of(5);
  std::vector<std::int64_t> thirds(3);
  std::vector<std::int64_t> remainders(3);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t value = random.below(3 * kThird);
    ++thirds.at(value / kThird);
    ++remainders.at(value % 3);
  }
  EXPECT_LT(test::chi_square(thirds), test::chi_square_bound(2));
  EXPECT_LT(test::chi_square(remainders), test::chi_square_bound(2));
}

TEST(Below64, AgreesWithBelowForSmallRanges) {
  RandomStream a = stream_of(6), b = stream_of(6);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.below64(12345), b.below(12345));
}

TEST(Below64, IsUniformBeyond32Bits) {
  constexpr std::uint64_t kSize = (std::uint64_t{5} << 40) + 3;
  constexpr int kDraws = 50000;
  RandomStream random = stream_of(7);
  std::vector<std::int64_t> fifths(5);
  std::vector<std::int64_t> remainders(7);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t value = random.below64(kSize);
    ASSERT_LT(value, kSize);
    ++fifths.at(std::min<std::uint64_t>(value >> 40, 4));
    ++remainders.at(value % 7);
  }
  EXPECT_LT(test::chi_square(fifths), test::chi_square_bound(4));
  EXPECT_LT(test::chi_square(remainders), test::chi_square_bound(6));
}

// ---- normal numbers ----

std::vector<double> normals(std::size_t count) {
  RandomStream random = stream_of(8);
  std::vector<double> draws;
  for (std::size_t i = 0; i < count; ++i) draws.push_back(random.normal());
  return draws;
}

TEST(Normal, FollowsTheNormalDistribution) {
  constexpr std::size_t kDraws = 100000;
  const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  EXPECT_LT(test::ks_distance(normals(kDraws), cdf), test::ks_bound(kDraws));
}

TEST(Normal, HasTheMomentsOfTheNormalDistribution) {
  constexpr std::size_t kDraws = 200000;
  // Moment k of the standard normal, and the variance E x^2k - (E x^k)^2 of its estimate.
  struct Moment {
    int power;
    double value;
    double variance;
  };
  constexpr Moment kMoments[] = {{1, 0, 1}, {2, 1, 2}, {3, 0, 15}, {4, 3, 96}};
  const std::vector<double> draws = normals(kDraws);
  for (const Moment& moment : kMoments) {
    double sum = 0;
    for (const double x : draws) sum += std::pow(x, moment.power);
    EXPECT_NEAR(sum / kDraws, moment.value, test::kSigmas * std::sqrt(moment.variance / kDraws))
        << "moment " << moment.power;
  }
}

TEST(Normal, NeighborsAreUncorrelated) {
  constexpr std::size_t kDraws = 200000;
  const std::vector<double> draws = normals(kDraws);
  for (const std::size_t lag : {1, 2, 3}) {
    double sum = 0;
    for (std::size_t i = lag; i < kDraws; ++i) sum += draws[i] * draws[i - lag];
    EXPECT_NEAR(sum / kDraws, 0, test::kSigmas / std::sqrt(kDraws)) << "lag " << lag;
  }
}

}  // namespace
}  // namespace medley
