#include "medley/theory/coefficients.h"

#include <cmath>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "medley/policy.h"
#include "medley/theory/enumerate_masks.h"
#include "theory/options.h"

namespace medley::theory {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// The estimates of 32 groups follow Student's law with 31 degrees of freedom; 6.5 standard errors
/// are exceeded with probability 3e-7. Masks that do not vary leave rounding only.
constexpr double kErrors = 6.5;
constexpr double kRounding = 1e-12;

void expect_near(const Estimate& estimate, double value, const std::string& what) {
  EXPECT_NEAR(estimate.value, value, kErrors * estimate.error + kRounding) << what;
}

void expect_agreement(const MixPolicy& policy, ImageSize size, bool effective,
                      std::int64_t draws = 20000) {
  const std::string name = test::described(policy) + (effective ? " effective" : "");
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
    list.push_back({.method = {"cutmix", {{"placement", placement}}}});
    list.push_back({.method = {"stochastic", {{"placement", placement}}}, .prob = 0.7});
    list.push_back({.method = {"hmix", {{"placement", placement}}}});
    list.push_back(
        {.method = {"hmix", {{"placement", placement}, {"form", Form::paper}, {"gamma", 0.6}}}});
  }
  for (const Form form : {Form::code, Form::paper, Form::calibrated}) {
    list.push_back({.method = {"gmix", {{"form", form}}}});
  }
  list.push_back({.method = "gaussian-field"});
  return list;
}

TEST(MonteCarlo, AgreesWithTheClosedFormsAtOneLam) {
  for (MixPolicy policy : policies()) {
    for (const double lam : {0.3, 0.6}) {
      policy.method.set("lam", lam);
      expect_agreement(policy, {7, 5}, false);
    }
  }
}

TEST(MonteCarlo, AgreesWithTheEffectiveCoefficients) {
  for (MixPolicy policy : policies()) {
    for (const LabelRule label : {LabelRule::realized, LabelRule::drawn}) {
      policy.label = label;
      expect_agreement(policy, {6, 5}, true);
    }
  }
}

TEST(MonteCarlo, AgreesWhereLamIsOftenAnEnd) {
  for (const char* method : {"cutmix", "hmix"}) {
    MixPolicy policy{.method = {method, {{"alpha", 0.05}, {"placement", Placement::inside}}}};
    policy.method.set_if_used("ratio", 1);
    expect_agreement(policy, {8, 8}, true);
  }
  // One lam in 13 is rounded to 1, where there is no kernel.
  for (const Form form : {Form::code, Form::paper, Form::calibrated}) {
    expect_agreement({.method = {"gmix", {{"alpha", 0.05}, {"form", form}}}}, {4, 3}, true);
  }
  // Ratios are, too; what clipping leaves of a full box shows the outside.
  expect_agreement({.method = {"hmix", {{"alpha", 0.02}, {"form", Form::paper}, {"gamma", 0.02}}}},
                   {5, 3}, true);
  // One in four is 0, where there is no kernel for the own image either.
  expect_agreement({.method = {"gmix", {{"alpha", 0.001}, {"form", Form::code}}}}, {8, 8}, true);
}

/// Every method of the registry with its defaults and with every word of its options; at one lam,
/// too, if it has one.
std::vector<MixPolicy> policies_of_the_registry(ImageSize size) {
  auto masks = std::make_shared<MaskSet>();
  masks->size = size;
  for (std::int64_t i = 0; i < 3 * size.pixels(); ++i) {
    masks->values.push_back(static_cast<float>(i % 7) / 6);
  }
  std::vector<MixPolicy> list;
  for (const MethodInfo* info : methods()) {
    Method method(info->name);
    method.set_if_used("masks", std::shared_ptr<const MaskSet>(masks));
    std::vector<Method> variants = {method};
    for (const OptionSpec& option : info->options) {
      for (const std::string_view word : option.names) {
        if (OptionValue(word) != option.default_value) {
          variants.push_back(Method(method).set(option.name, word));
        }
      }
    }
    for (const Method& variant : variants) {
      list.push_back({.method = variant});
      if (!info->uses_lam()) continue;
      list.push_back({.method = variant});
      list.back().method.set("lam", 0.35);
    }
  }
  return list;
}

TEST(MonteCarlo, AgreesWithEveryClosedFormThatAMethodClaims) {
  const ImageSize size{4, 3};
  std::size_t claimed = 0;
  for (const MixPolicy& policy : policies_of_the_registry(size)) {
    const bool one_lam = !policy.method.uses("lam") || test::lam_of(policy);
    for (const bool effective : {false, true}) {
      if (effective ? policy.method.sources() > 2 : !one_lam) continue;
      if (!has_closed_form(policy, effective)) continue;
      ++claimed;
      SCOPED_TRACE(test::described(policy));
      expect_agreement(policy, size, effective);
    }
  }
  EXPECT_GT(claimed, 30u);
}

TEST(MonteCarlo, AgreesWithEveryListOfMasksThatAMethodClaims) {
  const ImageSize size{4, 3};
  std::size_t claimed = 0;
  for (const MixPolicy& policy : policies_of_the_registry(size)) {
    if (!policy.method.base().has_mask_list()) continue;
    ++claimed;
    SCOPED_TRACE(test::described(policy));
    std::vector<double> plain(12), effective(12);
    for (const WeightedMask& mask : enumerate_masks(policy, size)) {
      for (std::size_t i = 0; i < plain.size(); ++i) {
        const double n = 1 - mask.own[i];
        const double q = 1 - mask.label_weight;
        plain[i] += mask.probability * n;
        effective[i] += mask.probability * (q + n - 2 * q * n);
      }
    }
    const auto drawn = monte_carlo(policy, size, {.draws = 20000, .seed = 7});
    const auto swapped = monte_carlo(policy, size, {.draws = 20000, .seed = 8, .effective = true});
    for (std::size_t i = 0; i < plain.size(); ++i) {
      expect_near(drawn.means[i], plain[i], "mean " + std::to_string(i));
      expect_near(swapped.means[i], effective[i], "effective mean " + std::to_string(i));
    }
  }
  EXPECT_GT(claimed, 20u);
}

TEST(MonteCarlo, TakesEveryMethodOfTheRegistry) {
  for (const MixPolicy& policy : policies_of_the_registry({4, 6})) {
    const MonteCarloMoments m = monte_carlo(policy, {4, 6}, {.draws = 640});
    EXPECT_EQ(m.map.size(), 24u) << test::described(policy);
    for (const Estimate& e : m.map) EXPECT_TRUE(std::isfinite(e.value) && e.error >= 0);
  }
}

TEST(MonteCarlo, OfOneCustomMaskIsThatMask) {
  auto masks = std::make_shared<MaskSet>();
  masks->size = {2, 2};
  masks->values = {1, 0.5f, 0, 0.25f};
  const MonteCarloMoments m =
      monte_carlo({.method = {"custom", {{"masks", std::shared_ptr<const MaskSet>(masks)}}}},
                  {2, 2}, {.draws = 64});
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
  const MixPolicy policy{.method = {"mixup", {{"lam", 1.5}}}};
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

/// Grids, which no method of the library draws yet, and masks that are not decided.
template <bool kOpen>
struct Drawn {
  static constexpr std::string_view name = "drawn";
  static constexpr std::string_view summary = "the upper half";

  static std::vector<OptionSpec> options() { return {}; }

  class Masks final : public MaskSampler {
   public:
    MaskDraw draw(const UnitRandom& /*random*/, std::span<float> field,
                  std::span<double> /*weights*/) const override {
      field[0] = 0;
      field[1] = 1;
      if (kOpen) return {0.5, OpenMask{}, 0.5};
      return {0.5, GridMask{0, 2, 1, GridInterpolation::constant}, 0.5};
    }
    bool makes_field() const override { return true; }
  };
  std::unique_ptr<MaskSampler> bind(ImageSize /*size*/, LabelRule /*label*/) const {
    return std::make_unique<Masks>();
  }
};

TEST(MonteCarlo, SeesGridsAndRefusesOpenMasks) {
  const MonteCarloMoments m = monte_carlo({.method = Drawn<false>{}}, {4, 2}, {.draws = 64});
  for (std::size_t i = 0; i < m.means.size(); ++i) {
    EXPECT_EQ(m.means[i].value, i < 4 ? 1 : 0) << i;
  }
  EXPECT_THROW((void)monte_carlo({.method = Drawn<true>{}}, {4, 2}, {.draws = 64}),
               InvalidArgument);
}

}  // namespace
}  // namespace medley::theory
