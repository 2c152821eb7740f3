// What every method of the registry must do, whatever its mode, pairing and image size.

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "medley/medley.h"
#include "plan/plans.h"

namespace medley {
namespace {

constexpr std::uint64_t kSeed = 3003;
constexpr double kExact = 1e-12;

constexpr Mode kModes[] = {Mode::sample, Mode::batch, Mode::pair};
constexpr Pairing kPairings[] = {Pairing::batch, Pairing::reverse, Pairing::roll, Pairing::dataset};

struct Shape {
  ImageSize size;
  std::int64_t batch;
};

constexpr Shape kShapes[] = {{{1, 1}, 3}, {{1, 7}, 1}, {{8, 8}, 8}, {{6, 9}, 5}, {{33, 17}, 7}};

PlanRequest request_of(const MixPolicy& policy, std::int64_t batch) {
  PlanRequest request;
  request.batch = batch;
  request.first = 3 * batch;
  request.epoch = 2;
  if (policy.pairing == Pairing::dataset) request.dataset_size = 4 * batch + 5;
  return request;
}

// ---- method x shape ----

struct ShapeCase {
  std::string method;
  Shape shape;

  [[nodiscard]] std::string name() const {
    return test::test_name(
        fmt::format("{}_{}x{}_batch{}", method, shape.size.height, shape.size.width, shape.batch));
  }
  friend std::ostream& operator<<(std::ostream& out, const ShapeCase& c) { return out << c.name(); }
};

/// Names of all methods but these.
std::vector<std::string> methods_except(const std::set<std::string>& left_out) {
  std::vector<std::string> names = test::method_names();
  std::erase_if(names, [&](const std::string& name) { return left_out.contains(name); });
  return names;
}

std::vector<ShapeCase> shape_cases(const std::set<std::string>& left_out = {}) {
  std::vector<ShapeCase> all;
  for (const std::string& method : methods_except(left_out)) {
    for (const Shape& shape : kShapes) all.push_back({method, shape});
  }
  return all;
}

constexpr auto kCaseName = [](const auto& info) { return info.param.name(); };

class EveryMethod : public testing::TestWithParam<ShapeCase> {
 protected:
  /// Calls check(plan) for plans of every mode, pairing, form and placement.
  template <typename Change, typename Check>
  void for_each_plan(const Change& change, const Check& check) {
    const auto& [method, shape] = GetParam();
    for (const Mode mode : kModes) {
      for (const Pairing pairing : kPairings) {
        for (int variant = 0; variant < 3; ++variant) {
          MixPolicy policy = test::policy_of(method, shape.size);
          policy.mode = mode;
          policy.pairing = pairing;
          policy.method.set_if_used("form", static_cast<Form>(variant));
          policy.method.set_if_used("placement", static_cast<Placement>(variant));
          change(policy);
          SCOPED_TRACE(std::string(name_of(mode)) + ", " + std::string(name_of(pairing)) + ", " +
                       "variant " + std::to_string(variant));
          const PlanRequest request = request_of(policy, shape.batch);
          check(Sampler(policy, shape.size, kSeed).plan(request));
        }
      }
    }
  }
  template <typename Check>
  void for_each_plan(const Check& check) {
    for_each_plan([](MixPolicy&) {}, check);
  }
};

/// Masks of all methods but one stay in [0, 1].
class BoundedMethod : public EveryMethod {};

/// Methods whose mask follows from lam at 0 and 1.
class MethodOfLam : public EveryMethod {};

TEST_P(EveryMethod, MakesValidPlans) {
  for_each_plan([](const MixPlan& plan) { EXPECT_NO_THROW(validate(plan)); });
}

TEST_P(BoundedMethod, KeepsMasksInTheUnitInterval) {
  for_each_plan([](const MixPlan& plan) {
    for (const MixEntry& entry : plan.entries) {
      for (const double value : test::values_of(plan, entry)) {
        ASSERT_GE(value, 0);
        ASSERT_LE(value, 1);
      }
    }
  });
}

TEST_P(EveryMethod, GivesLabelsTheMeanOfTheMaskByTheRealizedRule) {
  for_each_plan([](const MixPlan& plan) {
    for (const MixEntry& entry : plan.entries) {
      ASSERT_NEAR(entry.label_weight, mask_mean(plan, entry), kExact);
      ASSERT_NEAR(entry.label_weight, test::mean_of(test::values_of(plan, entry)), kExact);
    }
  });
}

TEST_P(EveryMethod, GivesLabelsLamByTheDrawnRule) {
  for_each_plan([](MixPolicy& policy) { policy.label = LabelRule::drawn; },
                [](const MixPlan& plan) {
                  for (const MixEntry& entry : plan.entries) {
                    ASSERT_EQ(entry.label_weight, entry.lam);
                  }
                });
}

TEST_P(EveryMethod, DrawsTheSameMaskWhateverTheLabelRule) {
  std::vector<MixPlan> realized;
  for_each_plan([&](const MixPlan& plan) { realized.push_back(plan); });
  std::size_t at = 0;
  for_each_plan([](MixPolicy& policy) { policy.label = LabelRule::drawn; },
                [&](MixPlan drawn) {
                  const MixPlan& other = realized.at(at++);
                  for (std::size_t i = 0; i < drawn.entries.size(); ++i) {
                    drawn.entries[i].label_weight = other.entries[i].label_weight;
                  }
                  ASSERT_EQ(drawn, other);
                });
}

TEST_P(MethodOfLam, KeepsTheImageAtOne) {
  for_each_plan([](MixPolicy& policy) { policy.method.set_if_used("lam", 1); },
                [](const MixPlan& plan) {
                  for (const MixEntry& entry : plan.entries) {
                    ASSERT_EQ(entry.label_weight, 1);
                    for (const double v : test::values_of(plan, entry)) ASSERT_EQ(v, 1);
                  }
                });
}

TEST_P(MethodOfLam, LeavesNothingOfTheImageAtZero) {
  for_each_plan(
      [](MixPolicy& policy) {
        policy.method.set_if_used("lam", 0);
        policy.method.set_if_used("placement",
                                  Placement::inside);  // clipped boxes never cover everything
        if (policy.method.uses("form") && policy.method.get("form") == OptionValue("paper"))
          policy.method.set("form", Form::code);  // nor does the paper's Gaussian
      },
      [](const MixPlan& plan) {
        for (const MixEntry& entry : plan.entries) {
          ASSERT_EQ(entry.label_weight, 0);
          for (const double v : test::values_of(plan, entry)) ASSERT_EQ(v, 0);
        }
      });
}

TEST_P(EveryMethod, NeverMixesAtProbabilityZero) {
  for_each_plan([](MixPolicy& policy) { policy.prob = 0; },
                [](const MixPlan& plan) {
                  EXPECT_TRUE(plan.fields.empty());
                  for (const MixEntry& entry : plan.entries) {
                    ASSERT_EQ(entry.mask, Mask(FlatMask{1}));
                    ASSERT_EQ(entry.resample, Resample::none);
                    ASSERT_EQ(entry.lam, 1);
                    ASSERT_EQ(entry.label_weight, 1);
                    for (std::int32_t k = 0; k < entry.term_count; ++k) {
                      ASSERT_EQ(plan.terms[static_cast<std::size_t>(entry.term_begin + k)].weight,
                                k == 0 ? 1 : 0);
                    }
                  }
                });
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryMethod, testing::ValuesIn(shape_cases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Shapes, BoundedMethod, testing::ValuesIn(shape_cases({"gaussian-field"})),
                         kCaseName);
INSTANTIATE_TEST_SUITE_P(Shapes, MethodOfLam,
                         testing::ValuesIn(shape_cases({"gaussian-field", "custom", "none"})),
                         kCaseName);

// ---- method x mode, over all pairings ----

struct UnitCase {
  std::string method;
  Mode mode;

  [[nodiscard]] std::string name() const {
    return test::test_name(method) + "_" + std::string(name_of(mode));
  }
  friend std::ostream& operator<<(std::ostream& out, const UnitCase& c) { return out << c.name(); }
};

std::vector<UnitCase> unit_cases(const std::set<std::string>& left_out = {}) {
  std::vector<UnitCase> all;
  for (const std::string& method : methods_except(left_out)) {
    for (const Mode mode : kModes) all.push_back({method, mode});
  }
  return all;
}

class EveryUnit : public testing::TestWithParam<UnitCase> {
 protected:
  static constexpr ImageSize kSize{5, 6};

  static MixPlan plan_of(Pairing pairing, std::int64_t batch, std::uint64_t seed = kSeed,
                         int threads = 0) {
    MixPolicy policy = test::policy_of(GetParam().method, kSize);
    policy.mode = GetParam().mode;
    policy.pairing = pairing;
    PlanRequest request = request_of(policy, batch);
    request.threads = threads;
    return Sampler(policy, kSize, seed).plan(request);
  }
};

TEST_P(EveryUnit, DrawsTheSameAgainOnAnyNumberOfThreads) {
  for (const Pairing pairing : kPairings) {
    for (const std::int64_t batch : {1, 2, 7, 16}) {
      const MixPlan plan = plan_of(pairing, batch, kSeed, 1);
      EXPECT_EQ(plan, plan_of(pairing, batch, kSeed, 1));
      EXPECT_EQ(plan, plan_of(pairing, batch, kSeed, 2));
      EXPECT_EQ(plan, plan_of(pairing, batch, kSeed, 16));
    }
  }
}

TEST_P(EveryUnit, NamesSamplesOfTheBatchOrTheDataSet) {
  constexpr std::int64_t kBatch = 7;
  for (const Pairing pairing : kPairings) {
    const MixPlan plan = plan_of(pairing, kBatch);
    const bool dataset = pairing == Pairing::dataset;
    EXPECT_EQ(plan.base, dataset ? 0 : plan.first);
    const std::int64_t low = dataset ? 0 : plan.first;
    const std::int64_t high = dataset ? 4 * kBatch + 5 : plan.first + kBatch;
    ASSERT_EQ(std::ssize(plan.entries), kBatch);
    const auto in_range = [&](const Source& s) { return s.index >= low && s.index < high; };
    for (std::size_t i = 0; i < plan.entries.size(); ++i) {
      EXPECT_EQ(plan.entries[i].own.index, plan.first + static_cast<std::int64_t>(i));
      EXPECT_TRUE(in_range(plan.entries[i].partner));
    }
    for (const MixTerm& term : plan.terms) EXPECT_TRUE(in_range(term.source));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryUnit, testing::ValuesIn(unit_cases()), kCaseName);

/// Methods that draw something.
class RandomUnit : public EveryUnit {};

TEST_P(RandomUnit, DrawsOtherwiseForAnotherSeed) {
  for (const Pairing pairing : kPairings) {
    const MixPlan plan = plan_of(pairing, 16);
    bool differs = false;  // one of three custom masks may come twice, but not twenty times
    for (std::uint64_t seed = kSeed + 1; seed <= kSeed + 20; ++seed) {
      MixPlan other = plan_of(pairing, 16, seed);
      other.seed = kSeed;
      differs = differs || other != plan;
    }
    EXPECT_TRUE(differs) << name_of(pairing);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, RandomUnit, testing::ValuesIn(unit_cases({"none"})), kCaseName);

/// Methods of which no two draws are alike.
class DistinctUnit : public EveryUnit {};

/// Whether two entries share lam and mask (fields: the same one).
bool same_draw(const MixEntry& a, const MixEntry& b) {
  return a.lam == b.lam && a.mask == b.mask && a.resample == b.resample;
}

TEST_P(DistinctUnit, SharesDrawsAsTheModeSays) {
  constexpr std::int64_t kBatch = 12;
  for (const Pairing pairing : kPairings) {
    const MixPlan plan = plan_of(pairing, kBatch);
    const auto& entries = plan.entries;
    const auto mate = [&](std::size_t i) {
      return static_cast<std::size_t>(entries[i].partner.index - plan.first);
    };
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        bool shared = GetParam().mode == Mode::batch;
        if (GetParam().mode == Mode::pair) {
          // Mutual partners share; where there are none (roll, data set), neighbors do.
          const bool mutual = pairing == Pairing::batch || pairing == Pairing::reverse;
          shared = mutual ? mate(i) == j && mate(j) == i : i / 2 == j / 2;
        }
        EXPECT_EQ(same_draw(entries[i], entries[j]), shared)
            << name_of(pairing) << ": " << i << " and " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, DistinctUnit, testing::ValuesIn(unit_cases({"none", "custom"})),
                         kCaseName);

// ---- a fixed lam ----

class FixedLam : public testing::TestWithParam<std::string> {
 protected:
  static constexpr ImageSize kSize{4, 5};

  static MixPlan plan_with(double lam) {
    MixPolicy policy = test::policy_of(GetParam(), kSize);
    policy.method.set("lam", lam);
    PlanRequest request;
    request.batch = 6;
    return Sampler(policy, kSize, kSeed).plan(request);
  }
  static std::string refusal(double lam) {
    try {
      (void)plan_with(lam);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  }
};

TEST_P(FixedLam, OutsideTheUnitIntervalIsForThreeMethods) {
  const std::set<std::string> unbounded = {"mixup", "nmixup", "gaussian-field"};
  for (const double lam : {-0.25, 1.5}) {
    const std::string text = refusal(lam);
    if (unbounded.contains(GetParam())) {
      EXPECT_EQ(text, "");
      EXPECT_EQ(plan_with(lam).entries[0].lam, lam);
    } else {
      EXPECT_NE(text.find("lam must be in [0, 1]"), std::string::npos) << text;
      EXPECT_NE(text.find(fmt::format("got {}", lam)), std::string::npos) << text;
    }
  }
}

TEST_P(FixedLam, MattersToMethodsThatUseIt) {
  EXPECT_NE(plan_with(0.25).entries[0].lam, plan_with(0.75).entries[0].lam);
}

TEST_P(FixedLam, MustBeFinite) {
  const std::string range =
      get_method(GetParam()).unbounded_lam() ? "in [-1e+06, 1e+06]" : "in [0, 1]";
  EXPECT_EQ(refusal(std::nan("")), "lam must be " + range + ", got nan");
  EXPECT_EQ(refusal(std::numeric_limits<double>::infinity()), "lam must be " + range + ", got inf");
}

std::vector<std::string> methods_with_lam() {
  std::vector<std::string> names = test::method_names();
  std::erase_if(names, [](const std::string& name) { return !get_method(name).uses_lam(); });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Methods, FixedLam, testing::ValuesIn(methods_with_lam()),
                         [](const auto& param) { return test::test_name(param.param); });

}  // namespace
}  // namespace medley
