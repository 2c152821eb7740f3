#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "medley/theory/coefficients.h"
#include "medley/theory/enumerate_masks.h"

namespace medley::theory {
namespace {

constexpr double kIntegrated = 1e-12;

/// Effective coefficients of the first pixel: of itself, and its mean.
struct Corner {
  double mean, second;
};

Corner corner_of(const MixPolicy& policy, ImageSize size) {
  const MaskMoments moments = effective_coefficients(policy, size);
  return {moments.mean({0, 0}), moments.second({0, 0}, {0, 0})};
}

// Here and below values come from quadrature with 20 digits and more: tanh-sinh, with lam and the
// ratio on logarithmic scales towards the ends of the stretches that keep the sides of a box.

TEST(PaperHmix, ResolvesRatiosNearOne) {
  struct Fact {
    ImageSize size;
    double ratio, alpha;
    LabelRule label;
    double mean, second;
  };
  using enum LabelRule;
  for (const auto& [size, ratio, alpha, label, mean, second] : {
           Fact{{1, 3}, 0.9, 1, realized, 0.2836904162405464, 0.2227463323603475},
           {{1, 3}, 0.999, 1, realized, 0.3136896018533986, 0.3111277393126622},
           {{1, 3}, 0.999, 1, drawn, 0.386438304181263, 0.3838764416405267},
           {{1, 3}, 0.999, 0.5, realized, 0.2818374650633479, 0.2743408076073828},
           {{1, 3}, 0.9999999, 1, realized, 0.3148145486119255, 0.3148138331033534},
           {{4, 4}, 0.9, 0.5, drawn, 0.2969025083998097, 0.2253928828690877},
           {{4, 4}, 0.999, 1, realized, 0.3500527470921111, 0.3463154646408193},
           {{4, 4}, 0.9999999, 0.5, drawn, 0.4328683467531883, 0.4327498335897967},
       }) {
    const MixPolicy policy{.method = {"hmix",
                                      {{"alpha", alpha},
                                       {"placement", Placement::inside},
                                       {"form", Form::paper},
                                       {"ratio", ratio}}},
                           .label = label};
    const Corner corner = corner_of(policy, size);
    EXPECT_NEAR(corner.mean, mean, kIntegrated) << size.height << " " << ratio << " " << alpha;
    EXPECT_NEAR(corner.second, second, kIntegrated) << size.height << " " << ratio << " " << alpha;
    double listed = 0;
    for (const WeightedMask& mask : enumerate_masks(policy, size)) {
      const double q = 1 - mask.label_weight;
      const double n = 1 - mask.own[0];
      listed += mask.probability * (q + n - 2 * q * n);
    }
    EXPECT_NEAR(listed, mean, kIntegrated) << size.height << " " << ratio << " " << alpha;
  }
}

struct RatioFact {
  std::int32_t n;
  double alpha, beta, gamma;
  Corner corner;
};

void expect_corner(MixPolicy policy, const RatioFact& fact) {
  policy.method.set("alpha", fact.alpha).set("beta", fact.beta).set("gamma", fact.gamma);
  policy.method.set("placement", Placement::inside);
  const Corner corner = corner_of(policy, {fact.n, fact.n});
  SCOPED_TRACE(std::to_string(fact.n) + " alpha " + std::to_string(fact.alpha) + " gamma " +
               std::to_string(fact.gamma));
  EXPECT_NEAR(corner.mean, fact.corner.mean, kIntegrated);
  EXPECT_NEAR(corner.second, fact.corner.second, kIntegrated);
}

TEST(PaperHmix, ResolvesADrawnRatioAtOneLam) {
  struct Fact {
    std::int32_t n;
    double gamma, lam;
    Corner corner;
  };
  for (const auto& [n, gamma, lam, corner] : {
           Fact{1, 0.01, 1e-4, {0.0092298441570614707, 0.0046149220785307354}},
           {1, 0.1, 0.01, {0.076361915231624581, 0.03818095761581229}},
           {1, 0.1, 1e-4, {0.041196554994233822, 0.020598277497116911}},
           {1, 0.5, 1e-4, {0.009999, 0.0049995}},
           {1, 0.5, 1e-9, {3.1622776570067906e-5, 1.5811388285033955e-5}},
           {1, 1, 0.5, {0.38629436111989062, 0.19314718055994531}},
           {2, 0.1, 0.001, {0.12719743241958649, 0.10722111990578297}},
           {5, 0.5, 0.001, {0.027078073441555391, 0.015078952315077289}},
           {5, 1.3, 0.3, {0.47725515690931082, 0.27244412229636619}},
       }) {
    const MixPolicy policy{.method = {"hmix", {{"lam", lam}, {"form", Form::paper}}}};
    SCOPED_TRACE(lam);
    expect_corner(policy, {n, 1, 1, gamma, corner});
  }
}

TEST(PaperHmix, IntegratesOverLamAndRatio) {
  // Where gamma is 0.1 the ratio is 1 from 1 - 2^-53 on, as drawn.
  const MixPolicy realized{.method = {"hmix", {{"form", Form::paper}}},
                           .label = LabelRule::realized};
  for (const RatioFact& fact : {
           RatioFact{1, 1, 1, 0.5, {4.0 / 15, 2.0 / 15}},
           {1, 1, 1, 0.1, {0.20425729281957743, 0.10212864640978872}},
           {1, 0.2, 0.2, 0.1, {0.10255740915107081, 0.051278704575535404}},
           {1, 0.2, 3, 1, {0.13257575757575757, 0.066287878787878787}},
           {1, 3, 3, 2.5, {0.37596908553649826, 0.18798454276824913}},
           {3, 1, 1, 0.1, {0.33075354079494723, 0.23334250586053613}},
           {3, 1, 1, 1.7, {0.32675597587392528, 0.19345307180111564}},
           {3, 0.2, 0.2, 1, {0.14593635107406323, 0.086214872993966104}},
       }) {
    expect_corner(realized, fact);
  }
  const MixPolicy drawn{.method = {"hmix", {{"form", Form::paper}}}, .label = LabelRule::drawn};
  expect_corner(drawn, {3, 1, 1, 0.5, {0.35581303894848358, 0.23518282203519719}});
  expect_corner(drawn, {3, 0.2, 0.2, 0.5, {0.16417643910427704, 0.10650273799721807}});
}

TEST(CodeHmix, IntegratesOverLamAndRatio) {
  for (const RatioFact& fact : {
           RatioFact{4, 1, 1, 0.5, {0.34249958259229865, 0.19479001090793548}},
           {3, 1, 1, 0.1, {0.34012781968733673, 0.1965721610323388}},
           {3, 0.5, 0.5, 0.9, {0.25498508383922103, 0.14209377595704504}},
           {3, 1, 1, 1.5, {0.33869823316581284, 0.18972083529033437}},
           {3, 0.5, 0.5, 2, {0.25450959739089118, 0.14082499180365003}},
           {2, 0.2, 3, 0.3, {0.089285714285714276, 0.047528913527849766}},
           {2, 1, 1, 20.3, {0.33333333333333333, 0.18062708353468776}},
       }) {
    expect_corner({.method = {"hmix", {{"form", Form::code}}}}, fact);
  }
}

TEST(CodeHmix, ResolvesNarrowRatios) {
  // Integrals over the ratio of polynomials in lam.
  for (const RatioFact& fact : {
           RatioFact{3, 1, 1, 100, {0.33544997891270048, 0.18669938735890731}},
           {3, 1, 1, 1000, {0.33519923133801042, 0.18656480093133883}},
           {4, 1, 1, 100000, {0.34104926697415134, 0.18752087029119096}},
       }) {
    expect_corner({.method = {"hmix", {{"form", Form::code}}}}, fact);
  }
}

TEST(Hmix, WithARatioNarrowerThanNumbersHasTheRatioOfOneHalf) {
  for (const Form form : {Form::code, Form::paper}) {
    MixPolicy policy{.method = {"hmix", {{"form", form}, {"ratio", 0.5}}}};
    const std::vector<double> fixed = effective_coefficients(policy, {5, 3}).map();
    for (const double gamma : {1e20, 1e36}) {
      policy.method.set("gamma", gamma);
      const std::vector<double> drawn = effective_coefficients(policy, {5, 3}).map();
      for (std::size_t i = 0; i < fixed.size(); ++i) {
        EXPECT_NEAR(drawn[i], fixed[i], kIntegrated) << gamma;
      }
    }
  }
}

}  // namespace
}  // namespace medley::theory
