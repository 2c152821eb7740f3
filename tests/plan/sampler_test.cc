#include "medley/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/statistics.h"
#include "plan/plans.h"
#include "support/forks.h"

namespace medley {
namespace {

constexpr std::uint64_t kSeed = 5005;
constexpr ImageSize kSize{6, 5};
constexpr std::int64_t kDataset = 1000;

/// An entry with its mask and terms spelled out, so that plans cut differently can be compared.
struct Spelled {
  MixEntry entry;
  std::vector<double> mask;
  std::vector<MixTerm> terms;
  friend bool operator==(const Spelled&, const Spelled&) = default;
};

std::vector<Spelled> spell(const MixPlan& plan) {
  std::vector<Spelled> all;
  for (const MixEntry& entry : plan.entries) {
    Spelled s{entry, test::values_of(plan, entry), {}};
    if (auto* field = std::get_if<FieldMask>(&s.entry.mask)) field->offset = 0;
    for (std::int32_t k = 0; k < entry.term_count; ++k) {
      s.terms.push_back(plan.terms[static_cast<std::size_t>(entry.term_begin + k)]);
    }
    s.entry.term_begin = 0;
    all.push_back(std::move(s));
  }
  return all;
}

// ---- independence of how an epoch is cut ----

class PerSampleDraws : public testing::TestWithParam<std::string> {
 protected:
  static MixPolicy policy() {
    MixPolicy policy = test::policy_of(GetParam(), kSize);
    policy.pairing = Pairing::dataset;
    policy.prob = 0.8;
    policy.augment = {2, 0.5};
    return policy;
  }
  static std::vector<Spelled> samples(std::int64_t first, std::int64_t count, std::int64_t batch,
                                      int threads = 1) {
    PlanRequest request;
    request.batch = batch;
    request.first = first;
    request.count = count;
    request.dataset_size = kDataset;
    request.threads = threads;
    return spell(Sampler(policy(), kSize, kSeed).plan(request));
  }
};

TEST_P(PerSampleDraws, DoNotDependOnTheCut) {
  const std::vector<Spelled> alone = samples(100, 50, 50);
  const std::vector<Spelled> within = samples(0, 300, 300);
  EXPECT_EQ(alone, std::vector<Spelled>(within.begin() + 100, within.begin() + 150));
  std::vector<Spelled> sevens;
  for (std::int64_t first = 100; first < 150; first += 7) {
    const std::int64_t count = std::min<std::int64_t>(7, 150 - first);
    for (Spelled& s : samples(first, count, 7)) sevens.push_back(std::move(s));
  }
  EXPECT_EQ(alone, sevens);
}

TEST_P(PerSampleDraws, DoNotDependOnThreads) {
  const std::vector<Spelled> one = samples(100, 50, 50, 1);
  EXPECT_EQ(one, samples(100, 50, 50, 16));
  EXPECT_EQ(one, samples(100, 50, 50, 0));
}

TEST_P(PerSampleDraws, MayBeAskedForByManyThreadsAtOnce) {
  const std::vector<Spelled> expected = samples(100, 50, 50);
  const Sampler sampler(policy(), kSize, kSeed);
  std::vector<std::vector<Spelled>> results(16);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      PlanRequest request;
      request.batch = 50;
      request.first = 100;
      request.dataset_size = kDataset;
      request.threads = 2;
      result = spell(sampler.plan(request));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST_P(PerSampleDraws, DoNotDependOnTheProcess) {
  if (!test::kForks) GTEST_SKIP() << test::kNoForks;
  PlanRequest request;
  request.batch = 20;
  request.dataset_size = kDataset;
  request.threads = 2;
  const std::string expected = to_json(Sampler(policy(), kSize, kSeed).plan(request), true);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs dies
    const std::string text = to_json(Sampler(policy(), kSize, kSeed).plan(request), true);
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n = write(ends[1], text.data() + sent, text.size() - sent);
      if (n <= 0) _exit(1);
      sent += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string received;
  std::vector<char> buffer(65536);
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    received.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(received, expected);
}

INSTANTIATE_TEST_SUITE_P(Methods, PerSampleDraws, testing::ValuesIn(test::method_names()),
                         [](const auto& param) { return test::test_name(param.param); });

TEST(Sampler, SeesThatLabelsHaveChanged) {
  MixPolicy policy;
  policy.pairing = Pairing::dataset;
  policy.classes = ClassRule::same;
  policy.no_self = true;
  const Sampler sampler(policy, {2, 2}, 1);
  std::vector<std::int64_t> labels = {0, 0, 1, 1};
  PlanRequest request;
  request.batch = 1;
  request.dataset_size = 4;
  request.labels = labels;
  EXPECT_EQ(sampler.plan(request).entries[0].partner.index, 1);
  labels = {0, 1, 0, 1};
  EXPECT_EQ(sampler.plan(request).entries[0].partner.index, 2);
}

TEST(Sampler, RefusesImpossibleNumbersOfThreads) {
  PlanRequest request;
  request.batch = 2;
  request.threads = -3;
  EXPECT_THROW((void)Sampler({}, {4, 4}, 0).plan(request), InvalidArgument);
}

TEST(Sampler, DrawsOfABatchDoNotDependOnTheBatchesAround) {
  for (const Mode mode : {Mode::sample, Mode::batch, Mode::pair}) {
    MixPolicy policy;
    policy.mode = mode;
    const Sampler sampler(policy, kSize, kSeed);
    const MixPlan third = sampler.plan({.batch = 8, .first = 16});
    EXPECT_EQ(third, Sampler(policy, kSize, kSeed).plan({.batch = 8, .first = 16}));
    const MixPlan fourth = sampler.plan({.batch = 8, .first = 24});
    EXPECT_NE(third.entries[0].lam, fourth.entries[0].lam);
  }
}

TEST(Sampler, KeysBatchDrawsByTheOrdinalOfTheBatch) {
  // One lam per batch: batch 3 of size 4 and batch 3 of size 10 have the same.
  MixPolicy policy;
  policy.mode = Mode::batch;
  const Sampler sampler(policy, kSize, kSeed);
  EXPECT_EQ(sampler.plan({.batch = 4, .first = 12}).entries[0].lam,
            sampler.plan({.batch = 10, .first = 30}).entries[0].lam);
}

TEST(Sampler, KeysSampleDrawsByTheOrdinalOfTheSample) {
  const Sampler sampler({}, kSize, kSeed);
  const MixPlan a = sampler.plan({.batch = 4, .first = 20});
  const MixPlan b = sampler.plan({.batch = 10, .first = 20});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(a.entries[i].lam, b.entries[i].lam);
}

TEST(Sampler, SeedEpochAndOrdinalEachChangeTheDraw) {
  std::set<double> lams;
  for (const std::uint64_t seed : {0, 1}) {
    const Sampler sampler({}, kSize, seed);
    for (const std::uint64_t epoch : {0, 1}) {
      for (const std::int64_t first : {0, 1}) {
        lams.insert(sampler.plan({.batch = 1, .first = first, .epoch = epoch}).entries[0].lam);
      }
    }
  }
  EXPECT_EQ(lams.size(), 8u);
}

TEST(Sampler, WorksAtTheEndOfItsRange) {
  const Sampler sampler({}, kSize, ~std::uint64_t{0});
  const std::int64_t last = (std::int64_t{1} << 55);
  const MixPlan plan = sampler.plan({.batch = 1, .first = last, .epoch = 0xFFFFFFFFull});
  EXPECT_EQ(plan.entries[0].own.index, last);
  EXPECT_EQ(plan.seed, ~std::uint64_t{0});
}

TEST(Sampler, RemembersWhatItWasMadeOf) {
  MixPolicy policy;
  policy.method = "gmix";
  Sampler sampler(policy, kSize, kSeed);
  const Sampler moved = std::move(sampler);
  EXPECT_EQ(moved.policy().method, "gmix");
  EXPECT_EQ(moved.size(), kSize);
  EXPECT_EQ(moved.seed(), kSeed);
}

TEST(Sampler, CopiesTheRequestIntoThePlan) {
  const MixPlan plan = Sampler({}, kSize, kSeed).plan({.batch = 4, .first = 8, .epoch = 3});
  EXPECT_EQ(plan.method, "mixup");
  EXPECT_EQ(plan.seed, kSeed);
  EXPECT_EQ(plan.epoch, 3u);
  EXPECT_EQ(plan.first, 8);
  EXPECT_EQ(plan.base, 8);
  EXPECT_EQ(plan.size, kSize);
}

// ---- the distribution of lam ----

class LamOfTheSampler : public testing::TestWithParam<double> {};

TEST_P(LamOfTheSampler, FollowsItsBetaDistributionPerSample) {
  constexpr std::size_t kDraws = 30000;
  MixPolicy policy;
  policy.method.set("alpha", GetParam());
  std::vector<double> lams;
  for (const MixEntry& e : test::draw_samples(policy, kSize, kSeed, kDraws).entries) {
    lams.push_back(e.lam);
  }
  EXPECT_LT(test::beta_ks_distance(lams, GetParam(), GetParam()), test::ks_bound(kDraws));
}

TEST_P(LamOfTheSampler, FollowsItsBetaDistributionPerBatch) {
  constexpr std::size_t kBatches = 3000;
  MixPolicy policy;
  policy.method.set("alpha", GetParam());
  policy.mode = Mode::batch;
  const Sampler sampler(policy, kSize, kSeed);
  std::vector<double> lams;
  for (std::size_t b = 0; b < kBatches; ++b) {
    const auto first = static_cast<std::int64_t>(2 * b);
    lams.push_back(sampler.plan({.batch = 2, .first = first}).entries[0].lam);
  }
  EXPECT_LT(test::beta_ks_distance(lams, GetParam(), GetParam()), test::ks_bound(kBatches));
}

INSTANTIATE_TEST_SUITE_P(Alphas, LamOfTheSampler,
                         testing::Values(0.001, 0.1, 0.2, 0.5, 1.0, 2.0, 10.0),
                         [](const auto& param) {
                           return test::test_name(fmt::format("{}", param.param));
                         });

// ---- partners ----

std::vector<std::int64_t> partners_of(const MixPlan& plan) {
  std::vector<std::int64_t> partners;
  for (const MixEntry& e : plan.entries) partners.push_back(e.partner.index - plan.first);
  return partners;
}

TEST(Sampler, PairsABatchByAPermutation) {
  std::vector<std::int64_t> partners =
      partners_of(Sampler({}, kSize, kSeed).plan({.batch = 9, .first = 18}));
  std::ranges::sort(partners);
  EXPECT_EQ(partners, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Sampler, PairsTheLastShortBatchAmongItself) {
  for (const Pairing pairing : {Pairing::batch, Pairing::reverse, Pairing::roll}) {
    MixPolicy policy;
    policy.pairing = pairing;
    const MixPlan plan = Sampler(policy, kSize, kSeed).plan({.batch = 8, .first = 16, .count = 3});
    ASSERT_EQ(plan.entries.size(), 3u);
    std::vector<std::int64_t> partners = partners_of(plan);
    std::ranges::sort(partners);
    EXPECT_EQ(partners, (std::vector<std::int64_t>{0, 1, 2}));
  }
}

TEST(Sampler, PairModeMakesMutualPairsThatShareTheirDraw) {
  MixPolicy policy;
  policy.mode = Mode::pair;
  for (const std::int64_t batch : {2, 8, 9}) {
    const MixPlan plan = Sampler(policy, kSize, kSeed).plan({.batch = batch});
    const std::vector<std::int64_t> partners = partners_of(plan);
    for (std::size_t i = 0; i < partners.size(); ++i) {
      const auto mate = static_cast<std::size_t>(partners[i]);
      EXPECT_EQ(partners[mate], static_cast<std::int64_t>(i));
      EXPECT_EQ(plan.entries[mate].lam, plan.entries[i].lam);
      EXPECT_EQ(plan.entries[mate].mask, plan.entries[i].mask);
    }
  }
}

TEST(Sampler, ABatchOfOneIsItsOwnPartner) {
  for (const Mode mode : {Mode::sample, Mode::batch, Mode::pair}) {
    for (const Pairing pairing : {Pairing::batch, Pairing::reverse, Pairing::roll}) {
      MixPolicy policy;
      policy.mode = mode;
      policy.pairing = pairing;
      const MixPlan plan = Sampler(policy, kSize, kSeed).plan({.batch = 1, .first = 7});
      EXPECT_EQ(plan.entries[0].own.index, 7);
      EXPECT_EQ(plan.entries[0].partner.index, 7);
    }
  }
}

TEST(Sampler, LeavesASampleWithoutAnEligiblePartnerUnmixed) {
  const std::vector<std::int64_t> one_class(4, 0);
  for (const Pairing pairing : {Pairing::batch, Pairing::dataset}) {
    MixPolicy policy;
    policy.pairing = pairing;
    policy.classes = ClassRule::other;
    PlanRequest request{.batch = 4, .labels = one_class};
    if (pairing == Pairing::dataset) request.dataset_size = 4;
    for (const MixEntry& entry : Sampler(policy, kSize, kSeed).plan(request).entries) {
      EXPECT_EQ(entry.partner, entry.own);
      EXPECT_EQ(entry.mask, Mask(FlatMask{1}));
      EXPECT_EQ(entry.label_weight, 1);
    }
  }
}

TEST(Sampler, LeavesABatchOfOneWithoutSelfUnmixed) {
  for (const std::string& method : test::method_names()) {
    MixPolicy policy = test::policy_of(method, kSize);
    policy.no_self = true;
    const MixPlan plan = Sampler(policy, kSize, kSeed).plan({.batch = 1});
    EXPECT_EQ(plan.entries[0].mask, Mask(FlatMask{1})) << method;
    EXPECT_EQ(plan.entries[0].label_weight, 1) << method;
    EXPECT_TRUE(plan.fields.empty()) << method;
  }
}

TEST(Sampler, DatasetPartnersAreUniform) {
  MixPolicy policy;
  policy.pairing = Pairing::dataset;
  PlanRequest request{.batch = 20, .dataset_size = 20};
  std::vector<std::int64_t> counts(20);
  const Sampler sampler(policy, kSize, kSeed);
  for (request.epoch = 0; request.epoch < 1000; ++request.epoch) {
    for (const MixEntry& entry : sampler.plan(request).entries) {
      ++counts.at(static_cast<std::size_t>(entry.partner.index));
    }
  }
  EXPECT_LT(test::chi_square(counts), test::chi_square_bound(19));
}

TEST(Sampler, NeverPairsWithSelfIfToldSo) {
  for (const Mode mode : {Mode::sample, Mode::batch, Mode::pair}) {
    for (const Pairing pairing :
         {Pairing::batch, Pairing::reverse, Pairing::roll, Pairing::dataset}) {
      MixPolicy policy;
      policy.mode = mode;
      policy.pairing = pairing;
      policy.no_self = true;
      PlanRequest request{.batch = 8};
      if (pairing == Pairing::dataset) request.dataset_size = 8;
      const Sampler sampler(policy, kSize, kSeed);
      for (request.epoch = 0; request.epoch < 50; ++request.epoch) {
        for (const MixEntry& entry : sampler.plan(request).entries) {
          ASSERT_NE(entry.partner.index, entry.own.index);
        }
      }
    }
  }
}

TEST(Sampler, KeepsToClassesOfTheBatchAndTheDataSet) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 24; ++i) labels.push_back(i * i % 5);
  for (const ClassRule rule : {ClassRule::same, ClassRule::other}) {
    for (const Pairing pairing : {Pairing::batch, Pairing::dataset}) {
      MixPolicy policy;
      policy.classes = rule;
      policy.pairing = pairing;
      // Labels are those of the data set, of which this is the second half.
      const PlanRequest request{.batch = 12, .first = 12, .dataset_size = 24, .labels = labels};
      for (const MixEntry& entry : Sampler(policy, kSize, kSeed).plan(request).entries) {
        const auto own = static_cast<std::size_t>(entry.own.index);
        const auto partner = static_cast<std::size_t>(entry.partner.index);
        EXPECT_EQ(labels[own] == labels[partner], rule == ClassRule::same);
      }
    }
  }
}

TEST(Sampler, TakesLabelsOfTheBatchAloneWithoutADataSet) {
  MixPolicy policy;
  policy.classes = ClassRule::other;
  const std::vector<std::int64_t> labels = {0, 1, 0, 1};
  const MixPlan plan =
      Sampler(policy, kSize, kSeed).plan({.batch = 4, .first = 400, .labels = labels});
  for (const std::int64_t partner : partners_of(plan)) EXPECT_LT(partner, 4);
  EXPECT_EQ(plan.entries[0].partner.index % 2, 1);
}

// ---- a shuffled epoch ----

std::vector<std::int64_t> backwards(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.rbegin(), order.rend(), std::int64_t{0});
  return order;
}

TEST(ShuffledEpoch, NamesSamplesByTheirPlaceInTheDataSet) {
  const std::vector<std::int64_t> order = backwards(30);
  for (const Pairing pairing :
       {Pairing::batch, Pairing::reverse, Pairing::roll, Pairing::dataset}) {
    MixPolicy policy;
    policy.pairing = pairing;
    PlanRequest request{.batch = 10, .first = 10, .dataset_size = 30};
    request.order = order;
    const MixPlan plan = Sampler(policy, kSize, kSeed).plan(request);
    EXPECT_EQ(plan.base, 0);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(plan.entries[i].own.index, order[10 + i]);
    }
  }
}

TEST(ShuffledEpoch, PairsWithinTheBatchAsWithoutIt) {
  const std::vector<std::int64_t> order = backwards(30);
  const Sampler sampler({}, kSize, kSeed);
  PlanRequest request{.batch = 10, .first = 10};
  const MixPlan plain = sampler.plan(request);
  request.order = order;
  const MixPlan shuffled = sampler.plan(request);
  for (std::size_t i = 0; i < 10; ++i) {
    const auto partner = static_cast<std::size_t>(plain.entries[i].partner.index);
    EXPECT_EQ(shuffled.entries[i].partner.index, order[partner]);
    EXPECT_EQ(shuffled.entries[i].mask, plain.entries[i].mask);
  }
}

TEST(ShuffledEpoch, LooksUpClassesInTheDataSet) {
  const std::vector<std::int64_t> order = backwards(30);
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 30; ++i) labels.push_back(i / 5);
  MixPolicy policy;
  policy.classes = ClassRule::same;
  for (const Pairing pairing : {Pairing::batch, Pairing::dataset}) {
    policy.pairing = pairing;
    PlanRequest request{.batch = 10, .first = 10, .dataset_size = 30, .labels = labels};
    request.order = order;
    for (const MixEntry& entry : Sampler(policy, kSize, kSeed).plan(request).entries) {
      EXPECT_EQ(entry.own.index / 5, entry.partner.index / 5);
    }
  }
}

TEST(ShuffledEpoch, MayVisitASampleTwice) {
  const std::vector<std::int64_t> order = {4, 4, 4, 4};
  MixPolicy policy;
  policy.pairing = Pairing::dataset;
  policy.no_self = true;
  PlanRequest request{.batch = 4, .dataset_size = 5};
  request.order = order;
  for (const MixEntry& entry : Sampler(policy, kSize, kSeed).plan(request).entries) {
    EXPECT_EQ(entry.own.index, 4);
    EXPECT_NE(entry.partner.index, 4);
  }
}

}  // namespace
}  // namespace medley
