// Values computed apart from this library, by enumeration and quadrature.

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "medley/theory/coefficients.h"
#include "moments/beta_law.h"

namespace medley::theory {
namespace {

using Json = nlohmann::json;

constexpr double kExact = 1e-12;
constexpr double kIntegrated = 1e-10;
constexpr ImageSize kFigure{64, 64};

const Json& golden() {
  static const Json file = Json::parse(std::ifstream(MEDLEY_TEST_DATA "/coefficients.json"));
  return file;
}

Placement placement_of(const Json& name) {
  return name == "inside"    ? Placement::inside
         : name == "clipped" ? Placement::clipped
                             : Placement::wrap;
}

void expect_map(const std::vector<double>& map, const Json& values, double tolerance) {
  for (const auto& [key, value] : values.items()) {
    const std::size_t comma = key.find(',');
    const std::size_t dy = std::stoul(key.substr(0, comma));
    const std::size_t dx = std::stoul(key.substr(comma + 1));
    EXPECT_NEAR(map[dy * 64 + dx], value.get<double>(), tolerance) << key;
  }
}

void expect_map(const std::string& key, const MixPolicy& policy) {
  SCOPED_TRACE(key);
  expect_map(coefficients(policy, kFigure).map(),
             golden().at("displacement_maps").at(key).at("values"), kExact);
}

TEST(GoldenMaps, OfFlatAndCutMasks) {
  expect_map("mixup", {.method = {"mixup", {{"lam", 0.5}}}});
  expect_map("bernoulli", {.method = {"bernoulli", {{"lam", 0.5}}}});
  for (const auto& [name, placement] : {std::pair("inside", Placement::inside),
                                        {"clipped", Placement::clipped},
                                        {"torus", Placement::wrap}}) {
    expect_map(std::string("cutmix_") + name,
               {.method = {"cutmix", {{"lam", 0.5}, {"placement", placement}}}});
    expect_map(std::string("stochastic_q0.5_") + name,
               {.method = {"stochastic", {{"lam", 0.5}, {"placement", placement}}}});
  }
}

TEST(GoldenMaps, OfHmix) {
  for (const auto& [name, ratio] : {std::pair("0.5", 0.5), {"0.7", 0.7}, {"0.75", 0.75}}) {
    const std::string key = std::string("hmix_r") + name;
    MixPolicy policy{.method = {"hmix", {{"lam", 0.5}, {"ratio", ratio}}}};
    expect_map(key + "_clipped_official", policy);
    policy.method.set("placement", Placement::inside);
    expect_map(key + "_inside_floor", policy);
    policy.method.set("placement", Placement::wrap);
    expect_map(key + "_torus_floor", policy);
    for (const auto& [where, placement] :
         {std::pair("inside", Placement::inside), {"torus", Placement::wrap}}) {
      const Json& nearest = golden().at("displacement_maps").at(key + "_" + where + "_nearest");
      const Json& params = nearest.at("params");
      const std::int32_t side = params.at("side");
      const BoxLaw box{side, side, params.at("outside_value"), placement};
      expect_map(box_coefficients(box, kFigure).map(), nearest.at("values"), kExact);
    }
  }
  for (const auto& [name, gamma] : {std::pair("0.5", 0.5), {"1.0", 1.0}, {"0.001", 0.001}}) {
    const MixPolicy policy{
        .method = {"hmix", {{"lam", 0.5}, {"placement", Placement::inside}, {"gamma", gamma}}}};
    const std::string key = std::string("hmix_rBeta_gamma") + name + "_inside_floor";
    SCOPED_TRACE(key);
    expect_map(coefficients(policy, kFigure).map(),
               golden().at("displacement_maps").at(key).at("values"), kIntegrated);
  }
}

TEST(GoldenMaps, OfGmix) {
  expect_map("gmix_paper_finite_grid", {.method = {"gmix", {{"lam", 0.5}, {"form", Form::paper}}}});
  expect_map("gmix_official_lam_ge_half", {.method = {"gmix", {{"lam", 0.5}}}});
  expect_map("gmix_calibrated", {.method = {"gmix", {{"lam", 0.5}, {"form", Form::calibrated}}}});
  // From below 1/2 the own image has the Gaussian. The jump is at lam = 1/2 itself.
  const double below = 0.5 - 1e-15;
  expect_map("gmix_official_lam_to_half_from_below", {.method = {"gmix", {{"lam", below}}}});
  for (const auto& [key, form] : {std::pair("gmix_paper_infinite_plane", Form::paper),
                                  {"gmix_official_infinite_plane", Form::code}}) {
    for (const auto& [at, value] : golden().at("displacement_maps").at(key).at("values").items()) {
      const std::size_t comma = at.find(',');
      EXPECT_NEAR(gmix_plane(form, 0.5, kFigure, std::stod(at.substr(0, comma)),
                             std::stod(at.substr(comma + 1))),
                  value.get<double>(), kExact);
    }
  }
}

MixPolicy policy_of(const Json& c) {
  MixPolicy policy;
  const std::string method = c.at("method");
  policy.method = method.substr(0, method.find('_'));
  policy.method.set_if_used("form", method == "gmix_paper" ? Form::paper : Form::code);
  if (c.contains("placement") && !c.at("placement").is_null()) {
    policy.method.set("placement", placement_of(c.at("placement")));
  }
  if (c.contains("r") && !c.at("r").is_null()) policy.method.set("ratio", c.at("r").get<double>());
  if (c.contains("lambda")) policy.method.set("lam", c.at("lambda").get<double>());
  if (c.contains("alpha")) policy.method.set("alpha", c.at("alpha").get<double>());
  if (c.contains("beta")) policy.method.set("beta", c.at("beta").get<double>());
  if (c.contains("label")) {
    policy.label = c.at("label") == "realized" ? LabelRule::realized : LabelRule::drawn;
  }
  return policy;
}

Pixel pixel_of(const Json& at) { return {at[0], at[1]}; }

TEST(GoldenPoints, OfOneLam) {
  for (const Json& c : golden().at("point_values")) {
    SCOPED_TRACE(c.dump().substr(0, 120));
    const ImageSize size{c.at("H"), c.at("W")};
    const MaskMoments m = coefficients(policy_of(c), size);
    for (const Json& p : c.at("a")) {
      EXPECT_NEAR(m.second(pixel_of(p.at("j")), pixel_of(p.at("k"))), p.at("a_jk").get<double>(),
                  kExact);
    }
    for (const Json& p : c.at("mean_1_minus_M")) {
      EXPECT_NEAR(m.mean(pixel_of(p.at("j"))), p.at("value").get<double>(), kExact);
    }
  }
}

TEST(GoldenPoints, OfEffectiveCoefficients) {
  for (const char* list : {"theorem1_effective_cutmix", "theorem1_effective_hmix"}) {
    for (const Json& c : golden().at(list)) {
      SCOPED_TRACE(c.dump().substr(0, 160));
      const MaskMoments m = effective_coefficients(policy_of(c), {c.at("H"), c.at("W")});
      for (const Json& p : c.at("a_tilde")) {
        EXPECT_NEAR(m.second(pixel_of(p.at("j")), pixel_of(p.at("k"))), p.at("value").get<double>(),
                    kIntegrated);
      }
      for (const Json& p : c.at("nu")) {
        EXPECT_NEAR(m.mean(pixel_of(p.at("j"))), p.at("value").get<double>(), kIntegrated);
      }
    }
  }
}

TEST(GoldenMaps, OfEffectiveCoefficients) {
  for (const auto& [law, alpha] : {std::pair("beta(1,1)", 1.0), {"beta(0.5,0.5)", 0.5}}) {
    const Json& maps = golden().at("theorem1_effective_displacement_maps_64").at(law);
    const auto check = [&, a = alpha](const char* key, Method method) {
      SCOPED_TRACE(key);
      method.set("alpha", a).set_if_used("placement", Placement::inside);
      const MixPolicy policy{.method = std::move(method), .label = LabelRule::drawn};
      expect_map(effective_coefficients(policy, kFigure).map(), maps.at(key), kIntegrated);
    };
    check("mixup", "mixup");
    check("bernoulli", "bernoulli");
    check("cutmix_inside_label_lambda", "cutmix");
    check("stochastic_q0.5_inside_label_lambda", "stochastic");
    check("hmix_r0.5_inside_label_lambda", "hmix");
    check("hmix_r0.75_inside_label_lambda", {"hmix", {{"ratio", 0.75}}});
  }
}

TEST(GoldenMoments, OfTheSizeBiasedLaw) {
  for (const Json& c : golden().at("dtilde_moments")) {
    const KeptLabelMoments m = kept_label_moments(c.at("alpha"), c.at("beta"));
    EXPECT_NEAR(m.partner, c.at("E_1_minus_lambda").get<double>(), kExact);
    EXPECT_NEAR(m.partner_squared, c.at("E_1_minus_lambda_sq").get<double>(), kExact);
  }
}

}  // namespace
}  // namespace medley::theory
