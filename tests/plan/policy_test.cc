// Policies and requests that cannot work: one sentence with the expectation and the fact.

#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/medley.h"
#include "medley/random.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What the library says about it; "" if it works.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

struct WrongPolicy {
  std::string name;
  std::function<void(MixPolicy&)> change;
  std::string expectation;
  std::string fact;

  friend std::ostream& operator<<(std::ostream& out, const WrongPolicy& wrong) {
    return out << wrong.name;
  }
};

/// Sets an option of the first method that has it.
std::function<void(MixPolicy&)> method_option(std::string option, OptionValue value) {
  return [=](MixPolicy& policy) {
    for (const MethodInfo* method : methods()) {
      policy.method = method->name;
      if (policy.method.set_if_used(option, value)) return;
    }
  };
}

class WrongPolicies : public testing::TestWithParam<WrongPolicy> {};

TEST_P(WrongPolicies, AreRefusedWithExpectationAndFact) {
  MixPolicy policy;
  const std::string text = refusal([&] {
    GetParam().change(policy);
    const Sampler sampler(policy, {8, 8}, 1);
  });
  EXPECT_THAT(text, HasSubstr(GetParam().expectation));
  EXPECT_THAT(text, HasSubstr("got " + GetParam().fact));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, WrongPolicies,
    testing::Values(
        WrongPolicy{"AlphaZero", method_option("alpha", 0), "alpha must be > 0", "0"},
        WrongPolicy{"AlphaNegative", method_option("alpha", -0.2), "alpha must be > 0", "-0.2"},
        WrongPolicy{"AlphaNan", method_option("alpha", kNan), "alpha must be > 0", "nan"},
        WrongPolicy{"AlphaInfinite", method_option("alpha", kInfinity), "alpha must be > 0", "inf"},
        WrongPolicy{"BetaZero", method_option("beta", 0), "beta must be > 0", "0"},
        WrongPolicy{"GammaNegative", method_option("gamma", -1), "gamma must be > 0", "-1"},
        WrongPolicy{"PowerZero", method_option("power", 0), "power must be > 0", "0"},
        WrongPolicy{"RatioTooLarge", method_option("ratio", 1.1), "ratio must be in [0, 1]", "1.1"},
        WrongPolicy{"RatioNan", method_option("ratio", kNan), "ratio must be in [0, 1]", "nan"},
        WrongPolicy{"QMixNegative", method_option("q_mix", -0.1), "q_mix must be in [0, 1]",
                    "-0.1"},
        WrongPolicy{"ProbTooLarge", [](auto& p) { p.prob = 2; }, "prob must be in [0, 1]", "2"},
        WrongPolicy{"SoftTooLarge", method_option("soft", 1.5), "soft must be in [0, 1]", "1.5"},
        WrongPolicy{"DecayNegative", method_option("decay", -1), "decay must be >= 0", "-1"},
        WrongPolicy{"ScaleZero", method_option("scale_min", 0), "0 < min <= max <= 1", "0 and"},
        WrongPolicy{"ScalesReversed", method_option("scale_min", 0.9), "0 < min <= max <= 1",
                    "0.9 and 0.8"},
        WrongPolicy{"ScaleTooLarge", method_option("scale_max", 1.2), "0 < min <= max <= 1",
                    "0.1 and 1.2"},
        WrongPolicy{"SigmaNegative", method_option("sigma", -1), "sigma must be in [0, 1e+06]",
                    "-1"},
        WrongPolicy{"SigmaHuge", method_option("sigma", 1e300), "sigma must be in [0, 1e+06]",
                    "1e+300"},
        WrongPolicy{"LengthZero", method_option("length", 0), "length must be > 0", "0"},
        WrongPolicy{"NOne", method_option("n", 1), "n must be in [2, 1024]", "1"},
        WrongPolicy{"NHuge", method_option("n", 100000), "n must be in [2, 1024]", "100000"},
        WrongPolicy{"PadNegative", [](auto& p) { p.augment.pad = -1; }, "pad must be in [0,", "-1"},
        WrongPolicy{"FlipTooLarge", [](auto& p) { p.augment.flip = 1.5; }, "flip must be in [0, 1]",
                    "1.5"},
        WrongPolicy{"UnknownPlacement", method_option("placement", static_cast<Placement>(77)),
                    "placement must be clipped, inside or wrap", "the number 77"},
        WrongPolicy{"UnknownForm", method_option("form", static_cast<Form>(3)),
                    "form must be code, paper or calibrated", "the number 3"},
        WrongPolicy{"UnknownLabelRule", [](auto& p) { p.label = static_cast<LabelRule>(2); },
                    "label must be realized or drawn", "the number 2"},
        WrongPolicy{"UnknownMode", [](auto& p) { p.mode = static_cast<Mode>(9); },
                    "mode must be sample, batch or pair", "the number 9"},
        WrongPolicy{"UnknownPairing", [](auto& p) { p.pairing = static_cast<Pairing>(9); },
                    "pairing must be batch, reverse, roll or dataset", "the number 9"},
        WrongPolicy{"UnknownClassRule", [](auto& p) { p.classes = static_cast<ClassRule>(255); },
                    "classes must be any, same or other", "the number 255"},
        WrongPolicy{"UnknownInterpolation",
                    method_option("interpolation", static_cast<Interpolation>(2)),
                    "interpolation must be bilinear or nearest", "the number 2"},
        WrongPolicy{"ClassesOfReverse",
                    [](auto& p) {
                      p.classes = ClassRule::same;
                      p.pairing = Pairing::reverse;
                    },
                    "same_class needs pairing batch or dataset", "reverse"}),
    [](const auto& param) { return param.param.name; });

TEST(SamplerSize, MustHavePixels) {
  for (const ImageSize size : {ImageSize{0, 8}, ImageSize{8, 0}, ImageSize{-1, 8}}) {
    EXPECT_THAT(refusal([&] { const Sampler sampler({}, size, 1); }),
                HasSubstr("height and width must be in [1, 32768], got"));
  }
  EXPECT_THAT(refusal([&] { const Sampler sampler({}, {8, 32769}, 1); }), HasSubstr("8x32769"));
}

TEST(SamplerMethod, MustExist) {
  EXPECT_THAT(refusal([] {
                const Sampler sampler({.method = "hmx"}, {8, 8}, 1);
              }),
              HasSubstr("did you mean \"hmix\"?"));
}

// ---- requests ----

struct WrongRequest {
  std::string name;
  std::function<void(MixPolicy&, PlanRequest&)> change;
  std::string expectation;
  std::string fact;

  friend std::ostream& operator<<(std::ostream& out, const WrongRequest& wrong) {
    return out << wrong.name;
  }
};

class WrongRequests : public testing::TestWithParam<WrongRequest> {};

TEST_P(WrongRequests, AreRefusedWithExpectationAndFact) {
  MixPolicy policy;
  PlanRequest request;
  request.batch = 8;
  GetParam().change(policy, request);
  const Sampler sampler(policy, {8, 8}, 1);
  const std::string text = refusal([&] { (void)sampler.plan(request); });
  EXPECT_THAT(text, HasSubstr(GetParam().expectation));
  EXPECT_THAT(text, HasSubstr(GetParam().fact));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

const std::vector<std::int64_t> kLabels = {0, 1, -1, 0, 1, 0, 1, 0};
const std::vector<std::int64_t> kOrder = {0, 3, -1, 5, 0, 0, 0, 0};

INSTANTIATE_TEST_SUITE_P(
    Parameters, WrongRequests,
    testing::Values(
        WrongRequest{"BatchZero", [](auto&, auto& r) { r.batch = 0; }, "batch must be in [1,",
                     "got 0"},
        WrongRequest{"BatchNegative", [](auto&, auto& r) { r.batch = -3; }, "batch must be in [1,",
                     "got -3"},
        WrongRequest{"CountZero", [](auto&, auto& r) { r.count = 0; }, "count must be in [1,",
                     "got 0"},
        WrongRequest{"CountBeyondBatch", [](auto&, auto& r) { r.count = 9; },
                     "count must be at most the batch size 8", "got 9"},
        WrongRequest{"FirstNegative", [](auto&, auto& r) { r.first = -8; }, "first must be in [0,",
                     "got -8"},
        WrongRequest{"FirstHuge",
                     [](auto&, auto& r) { r.first = std::numeric_limits<std::int64_t>::max(); },
                     "first must be in [0,", "got 9223372036854775807"},
        WrongRequest{"FirstInsideABatch", [](auto&, auto& r) { r.first = 12; },
                     "first must be a multiple of the batch size 8 for mode sample and pairing "
                     "batch",
                     "got 12"},
        WrongRequest{"FirstInsideABatchOfBatchMode",
                     [](auto& p, auto& r) {
                       p.mode = Mode::batch;
                       p.pairing = Pairing::dataset;
                       r.dataset_size = 100;
                       r.first = 12;
                     },
                     "first must be a multiple of the batch size 8 for mode batch and pairing "
                     "dataset",
                     "got 12"},
        WrongRequest{"NegativeLabel",
                     [](auto& p, auto& r) {
                       p.classes = ClassRule::same;
                       r.labels = kLabels;
                     },
                     "labels must be >= 0", "got -1 at 2"},
        WrongRequest{"EpochHuge", [](auto&, auto& r) { r.epoch = kMaxEpoch + 1; },
                     "epoch must be at most 4294967295", "got 4294967296"},
        WrongRequest{"DatasetSizeNegative", [](auto&, auto& r) { r.dataset_size = -1; },
                     "dataset_size must be >= 0", "got -1"},
        WrongRequest{"DatasetSizeMissing", [](auto& p, auto&) { p.pairing = Pairing::dataset; },
                     "pairing dataset needs the size of the data set", "got none"},
        WrongRequest{"BeyondTheDataSet",
                     [](auto& p, auto& r) {
                       p.pairing = Pairing::dataset;
                       r.dataset_size = 10;
                       r.first = 5;
                     },
                     "samples 5 to 12 lie outside", "data set of 10"},
        WrongRequest{"BeyondTheDataSetWithinTheBatch",
                     [](auto&, auto& r) {
                       r.dataset_size = 10;
                       r.first = 8;
                     },
                     "samples 8 to 15 lie outside", "data set of 10"},
        WrongRequest{"LabelsMissing", [](auto& p, auto&) { p.classes = ClassRule::same; },
                     "same_class needs 8 labels", "got 0"},
        WrongRequest{"LabelsOfTheDataSetMissing",
                     [](auto& p, auto& r) {
                       p.classes = ClassRule::other;
                       p.pairing = Pairing::dataset;
                       r.dataset_size = 20;
                       r.labels = kOrder;
                     },
                     "other_class needs 20 labels", "got 8"},
        WrongRequest{"OrderTooShort",
                     [](auto&, auto& r) {
                       r.order = kOrder;
                       r.first = 8;
                     },
                     "samples 8 to 15 lie outside", "order of 8"},
        WrongRequest{"OrderOutsideTheDataSet",
                     [](auto& p, auto& r) {
                       p.pairing = Pairing::dataset;
                       r.dataset_size = 5;
                       r.order = kOrder;
                     },
                     "order must hold data-set indices in [0, 5)", "got -1"}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace medley
