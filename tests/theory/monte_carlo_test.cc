#include "medley/theory/monte_carlo.h"

#include <cmath>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "medley/policy.h"

namespace medley::theory {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// The estimates of 32 groups follow Student's law with 31 degrees of freedom; 6.5 standard errors
/// are exceeded with chance 3e-7. Masks that do not vary leave rounding only.
constexpr double kErrors = 6.5;
constexpr double kRounding = 1e-12;

void expect_near(const Estimate& estimate, double value, const std::string& what) {
  EXPECT_NEAR(estimate.value, value, kErrors * estimate.error + kRounding) << what;
}

void expect_agreement(const MixPolicy& policy, ImageSize size, bool effective,
                      std::int64_t draws = 20000) {
  const std::string name = policy.method + " " + std::string(name_of(policy.placement)) + " " +
                           std::string(name_of(form_of(policy))) + (effective ? " effective" : "");
  MonteCarloOptions options{.draws = draws, .seed = 5, .effective = effective};
  options.points = {{{0, 0}, {1, 2}}, {{3, 1}, {3, 1}}};
  const MonteCarloMoments estimate = monte_carlo(policy, size, options);
  const MaskMoments exact =
      effective ? effective_coefficients(policy, size) : coefficients(policy, size);
  const auto map = exact.map();
  const auto means = exact.means();
  for (std::size_t i = 0; i < map.size(); ++i) {
    expect_near(estimate.map[i], map[i], name + " map " + std::to_string(i));
    expect_near(estimate.means[i], means[i], name + " mean " + std::to_string(i));
  }
  for (std::size_t i = 0; i < options.points.size(); ++i) {
    const auto& [j, k] = options.points[i];
    expect_near(estimate.points[i], exact.second(j, k), name + " point");
  }
}

std::vector<MixPolicy> policies() {
  std::vector<MixPolicy> list = {{.method = "mixup"}, {.method = "bernoulli"}};
  for (const Placement placement : {Placement::inside, Placement::clipped, Placement::wrap}) {
    list.push_back({.method = "cutmix", .placement = placement});
    list.push_back({.method = "stochastic", .prob = 0.7, .placement = placement});
    list.push_back({.method = "hmix", .placement = placement});
    list.push_back({.method = "hmix", .placement = placement, .form = Form::paper, .gamma = 0.6});
  }
  for (const Form form : {Form::code, Form::paper, Form::calibrated}) {
    list.push_back({.method = "gmix", .form = form});
  }
  list.push_back({.method = "gaussian-field"});
  return list;
}

TEST(MonteCarlo, AgreesWithTheClosedFormsAtOneLam) {
  for (MixPolicy policy : policies()) {
    for (const double lam : {0.3, 0.6}) {
      policy.lam = lam;
      expect_agreement(policy, {7, 5}, false);
    }
  }
}

TEST(MonteCarlo, AgreesWithTheEffectiveCoefficients) {
  for (MixPolicy policy : policies()) {
    for (const LabelRule label : {LabelRule::realised, LabelRule::drawn}) {
      policy.label = label;
      expect_agreement(policy, {6, 5}, true);
    }
  }
}

TEST(MonteCarlo, AgreesWhereLamIsOftenAnEnd) {
  for (const char* method : {"cutmix", "hmix"}) {
    expect_agreement({.method = method, .alpha = 0.05, .placement = Placement::inside, .ratio = 1},
                     {8, 8}, true);
  }
  // One lam in 13 is rounded to 1, where there is no kernel.
  for (const Form form : {Form::code, Form::paper, Form::calibrated}) {
    expect_agreement({.method = "gmix", .alpha = 0.05, .form = form}, {4, 3}, true);
  }
  // Ratios are, too; what clipping leaves of a full box shows the outside.
  expect_agreement({.method = "hmix", .alpha = 0.02, .form = Form::paper, .gamma = 0.02}, {5, 3},
                   true);
  // One in four is 0, where there is no kernel for the own image either.
  expect_agreement({.method = "gmix", .alpha = 0.001, .form = Form::code}, {8, 8}, true);
}

TEST(MonteCarlo, TakesEveryMethodOfTheRegistry) {
  auto masks = std::make_shared<MaskSet>();
  masks->size = {4, 6};
  for (int i = 0; i < 3 * 24; ++i) masks->values.push_back(static_cast<float>(i % 7) / 6);
  for (const MethodInfo* info : methods()) {
    MixPolicy policy{.method = std::string(info->name)};
    if (policy.method == "custom") policy.masks = masks;
    const MonteCarloMoments m = monte_carlo(policy, {4, 6}, {.draws = 640});
    EXPECT_EQ(m.map.size(), 24u) << info->name;
    for (const Estimate& e : m.map) EXPECT_TRUE(std::isfinite(e.value) && e.error >= 0);
    EXPECT_EQ(has_closed_form(policy, false), info->name != "fmix" && info->name != "custom");
  }
}

TEST(MonteCarlo, OfOneCustomMaskIsThatMask) {
  auto masks = std::make_shared<MaskSet>();
  masks->size = {2, 2};
  masks->values = {1, 0.5f, 0, 0.25f};
  const MonteCarloMoments m =
      monte_carlo({.method = "custom", .masks = masks}, {2, 2}, {.draws = 64});
  const double n[] = {0, 0.5, 1, 0.75};
  EXPECT_NEAR(m.map[0].value, (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]) / 4, 1e-14);
  EXPECT_NEAR(m.map[1].value, (n[0] * n[1] + n[2] * n[3]) / 2, 1e-14);
  EXPECT_NEAR(m.map[2].value, (n[0] * n[2] + n[1] * n[3]) / 2, 1e-14);
  EXPECT_NEAR(m.map[3].value, n[0] * n[3], 1e-14);
}

TEST(MonteCarlo, DoesNotDependOnThreads) {
  const MixPolicy policy{.method = "hmix"};
  const auto one = monte_carlo(policy, {6, 6}, {.draws = 1000, .threads = 1});
  const auto three = monte_carlo(policy, {6, 6}, {.draws = 1000, .threads = 3});
  for (std::size_t i = 0; i < one.map.size(); ++i) {
    EXPECT_EQ(one.map[i].value, three.map[i].value);
    EXPECT_EQ(one.map[i].error, three.map[i].error);
  }
}

TEST(MonteCarlo, ClipsOnRequest) {
  const MixPolicy policy{.method = "mixup", .lam = 1.5};
  EXPECT_NEAR(monte_carlo(policy, {2, 2}, {.draws = 64}).map[0].value, 0.25, 1e-15);
  EXPECT_EQ(monte_carlo(policy, {2, 2}, {.draws = 64, .clip = true}).map[0].value, 0);
}

TEST(MonteCarlo, RefusesWhatCannotWork) {
  EXPECT_THAT(
      [] {
        (void)monte_carlo({}, {4, 4}, {.draws = 10});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("at least 64 draws, got 10")));
  EXPECT_THAT(
      [] {
        (void)monte_carlo({}, {4, 4}, {.draws = 64, .points = {{{0, 0}, {4, 0}}}});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("row 0 to 3")));
  EXPECT_THAT(
      [] {
        MixPolicy policy;
        policy.method = "nmixup";
        (void)monte_carlo(policy, {4, 4}, {.draws = 64, .effective = true});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("more than two images")));
}

}  // namespace
}  // namespace medley::theory
