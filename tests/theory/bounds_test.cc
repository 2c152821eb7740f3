#include "medley/theory/bounds.h"

#include <cmath>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include "medley/error.h"
#include "medley/theory/loss.h"

namespace medley::theory {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kGolden = 1e-9;

/// The data of the golden file: 8 centered points in 4 dimensions, a linear model without bias, and
/// Bernoulli masks with lam ~ Beta(1, 1).
struct Golden {
  Json file = Json::parse(std::ifstream(MEDLEY_TEST_DATA "/bounds.json"));
  std::vector<double> x = std::vector<double>(32);
  std::vector<double> y, scores, gradients;
  Glm model{Link::logistic, {0.8, -1.1, 0.5, 0.3}, 0};
  MixPolicy policy{.method = {"bernoulli", {{"alpha", 1}}}, .label = LabelRule::drawn};
  CoordinateMoments moments = coordinate_moments(effective_coefficients(policy, {1, 4}));
  Matrix covariance;

  Golden() {
    for (std::size_t j = 0; j < 4; ++j) {
      double mean = 0;
      for (std::size_t i = 0; i < 8; ++i) {
        const auto a = static_cast<double>(i + 1);
        const auto b = static_cast<double>(j);
        x[4 * i + j] = std::sin(0.7 * a * (b + 1) + 0.3 * b);
        mean += x[4 * i + j] / 8;
      }
      for (std::size_t i = 0; i < 8; ++i) x[4 * i + j] -= mean;
    }
    for (std::size_t i = 0; i < 8; ++i) {
      double f = 0;
      for (std::size_t j = 0; j < 4; ++j) f += model.theta[j] * x[4 * i + j];
      scores.push_back(f);
      y.push_back(f > 0 ? 1 : 0);
      gradients.insert(gradients.end(), model.theta.begin(), model.theta.end());
    }
    const Eigen::Map<const Matrix> m(x.data(), 8, 4);
    covariance = m.transpose() * m / 8;
  }
  [[nodiscard]] Samples samples() const { return {x, 8, 4}; }
  [[nodiscard]] std::span<const double> sigma() const { return {covariance.data(), 16}; }
};

TEST(AdversarialBound, OfASaturatedSampleIsItsLoss) {
  Golden g;
  g.scores[0] = 800;
  g.y[0] = 1;
  const AdversarialSample s =
      adversarial_bound({g.samples(), g.y, g.scores, g.gradients}, g.moments).samples[0];
  EXPECT_EQ(s.approximate, s.loss);
  EXPECT_EQ(s.equivalent, 0);
}

/// Two samples, mirror images of each other, of a line through the origin.
AdversarialBound mirrored(double score, double label, double scale = 1) {
  const std::vector<double> x = {scale, -scale};
  const std::vector<double> y = {label, 1 - label};
  const std::vector<double> scores = {score, -score};
  const std::vector<double> gradients = {score / scale, score / scale};
  return adversarial_bound({{x, 2, 1}, y, scores, gradients}, {{1.0 / 3}, {1.0 / 6}});
}

TEST(AdversarialBound, IsExactAtLargeMargins) {
  for (const double margin : {5.0, 34.0, 40.0, 700.0}) {
    const AdversarialBound bound = mirrored(margin, 1);
    EXPECT_DOUBLE_EQ(bound.samples[0].loss, std::log1p(std::exp(-margin)));
    EXPECT_DOUBLE_EQ(bound.samples[0].loss, bound.samples[1].loss);
    const double g = 1 / (1 + std::exp(-margin));
    const double step = margin / 3 + g * margin * margin / 6;
    const double radius = 2 * step / (1 + std::sqrt(1 + 2 * g * step)) / margin;
    EXPECT_NEAR(bound.samples[0].equivalent, radius, 1e-14) << margin;
    EXPECT_NEAR(bound.samples[1].equivalent, radius, 1e-14) << margin;
  }
}

TEST(AdversarialBound, IsForHardLabels) {
  EXPECT_THAT(mirrored(5, 1).unmet, IsEmpty());
  const AdversarialBound soft = mirrored(5, 0.9);
  EXPECT_LT(soft.approximate, soft.adversarial);
  EXPECT_THAT(soft.unmet, testing::ElementsAre("labels must be 0 or 1"));
}

TEST(AdversarialBound, ChecksHypothesesInUnitsOfTheData) {
  for (const double scale : {1.0, 1e-12, 1e12}) {
    EXPECT_THAT(mirrored(5, 1, scale).unmet, IsEmpty()) << scale;
    const std::vector<double> x = {3 * scale, scale};
    const std::vector<double> y = {1, 1};
    const std::vector<double> scores = {2e-6, 1e-6};
    const std::vector<double> gradients = {1e-6 / scale, 1e-6 / scale};
    EXPECT_THAT(adversarial_bound({{x, 2, 1}, y, scores, gradients}, {{0.3}, {0.2}}).unmet,
                testing::ElementsAre(HasSubstr("mean 0"), HasSubstr("no bias")))
        << scale;
  }
}

TEST(AdversarialBound, ReproducesTheGoldenValues) {
  const Golden g;
  const Json& expected = g.file["theorem3"];
  const AdversarialBound bound =
      adversarial_bound({g.samples(), g.y, g.scores, g.gradients}, g.moments);
  EXPECT_THAT(bound.unmet, IsEmpty());
  for (std::size_t i = 0; i < 8; ++i) {
    const AdversarialSample& s = bound.samples[i];
    EXPECT_NEAR(g.scores[i], expected["f"][i].get<double>(), kGolden);
    EXPECT_NEAR(s.first, expected["b"][i].get<double>(), kGolden);
    EXPECT_NEAR(s.second, expected["q"][i].get<double>(), kGolden);
    EXPECT_NEAR(s.loss, expected["l"][i].get<double>(), kGolden);
    EXPECT_NEAR(s.approximate, expected["approx_per_sample"][i].get<double>(), kGolden);
    EXPECT_NEAR(s.radius, expected["eta_i"][i].get<double>(), kGolden);
    EXPECT_NEAR(s.equivalent, expected["eta_star"][i].get<double>(), kGolden);
    EXPECT_GE(s.equivalent, s.radius);
  }
  EXPECT_NEAR(bound.approximate, expected["approx"].get<double>(), kGolden);
  EXPECT_NEAR(bound.adversarial, expected["ladv_eta_i"].get<double>(), kGolden);
  EXPECT_NEAR(bound.radius, expected["eta_uniform"].get<double>(), kGolden);
  EXPECT_NEAR(bound.uniform_adversarial, expected["ladv_uniform"].get<double>(), kGolden);
  EXPECT_GE(bound.approximate, bound.adversarial);
  EXPECT_GE(bound.adversarial, bound.uniform_adversarial);
}

TEST(LinearBound, IsTheTrueAdversarialLossBelowTheMixedLoss) {
  const Golden g;
  const Json& expected = g.file["theorem3"];
  const LinearBound bound = linear_adversarial_bound(g.model, g.samples(), g.y, g.moments);
  EXPECT_THAT(bound.unmet, IsEmpty());
  EXPECT_TRUE(bound.is_adversarial);
  EXPECT_NEAR(bound.floor, expected["true_adversarial_at_eta_i"].get<double>(), kGolden);
  const double exact = exact_loss(g.model, g.samples(), g.y, enumerate_masks(g.policy, {1, 4}));
  EXPECT_NEAR(exact, expected["exact_msda"].get<double>(), kGolden);
  EXPECT_GE(exact, bound.floor);
}

TEST(LinearBound, HoldsForAnyMeanAndMisclassifiedSamples) {
  Golden g;
  g.y[0] = 1 - g.y[0];
  const MixPolicy uneven{.method = {"cutmix", {{"alpha", 0.7}, {"placement", Placement::inside}}},
                         .label = LabelRule::drawn};
  for (const MixPolicy& policy : {g.policy, uneven}) {
    const auto moments = coordinate_moments(effective_coefficients(policy, {1, 4}));
    for (const Link link : {Link::logistic, Link::squared}) {
      g.model.link = link;
      const LinearBound bound = linear_adversarial_bound(g.model, g.samples(), g.y, moments);
      EXPECT_THAT(bound.unmet, IsEmpty());
      EXPECT_FALSE(bound.is_adversarial);
      EXPECT_GE(exact_loss(g.model, g.samples(), g.y, enumerate_masks(policy, {1, 4})),
                bound.floor);
    }
  }
}

TEST(LinearBound, IsAdversarialOnlyForConstantMeansAndLogisticLoss) {
  Golden g;
  CoordinateMoments uneven = g.moments;
  uneven.mean[2] += 0.1;
  EXPECT_FALSE(linear_adversarial_bound(g.model, g.samples(), g.y, uneven).is_adversarial);
  g.model.link = Link::squared;
  EXPECT_FALSE(linear_adversarial_bound(g.model, g.samples(), g.y, g.moments).is_adversarial);
}

TEST(AdversarialBound, NamesHypothesesThatDoNotHold) {
  Golden g;
  g.y[0] = 1 - g.y[0];
  for (double& value : g.x) value += 0.5;
  CoordinateMoments uneven = g.moments;
  uneven.mean[2] += 0.1;
  const AdversarialBound bound =
      adversarial_bound({g.samples(), g.y, g.scores, g.gradients}, uneven);
  EXPECT_THAT(bound.unmet,
              testing::ElementsAre(HasSubstr("12.5 %"), HasSubstr("nu must be the same"),
                                   HasSubstr("mean 0"), HasSubstr("no bias")));
  g.model.bias = 1;
  EXPECT_THAT(linear_adversarial_bound(g.model, g.samples(), g.y, uneven).unmet,
              testing::ElementsAre(HasSubstr("mean 0"), HasSubstr("no bias")));
}

TEST(GeneralizationBound, ReproducesTheGoldenValues) {
  const Golden g;
  const Json& a = g.file["theorem4a"];
  const Eigen::Map<const Eigen::VectorXd> theta(g.model.theta.data(), 4);
  EXPECT_NEAR(theta.norm(), a["B_theta"].get<double>(), kGolden);
  EXPECT_NEAR(logistic_retentiveness(g.sigma(), theta.norm()), a["rho"].get<double>(), kGolden);
  const Eigen::Map<const Matrix> tilde(g.moments.second.data(), 4, 4);
  const double square = theta.dot(tilde.cwiseProduct(g.covariance) * theta);
  double curvature = 0;
  for (const double f : g.scores) curvature += link_values(Link::logistic, f).d2 / 8;
  EXPECT_NEAR(curvature * square, a["gamma"].get<double>(), kGolden);
  const GeneralizationBound bound = generalization_bound({.covariance = g.sigma(),
                                                          .gamma = curvature * square,
                                                          .rho = a["rho"],
                                                          .samples = 8,
                                                          .lipschitz = 1,
                                                          .range = a["loss_range_B"],
                                                          .delta = 0.05},
                                                         g.moments);
  EXPECT_THAT(bound.unmet, IsEmpty());
  EXPECT_NEAR(bound.trace, a["trace"].get<double>(), 1e-8);
  EXPECT_EQ(bound.rank, a["rank"].get<int>());
  EXPECT_NEAR(bound.complexity, a["rademacher_bound"].get<double>(), kGolden);
  EXPECT_NEAR(bound.gap, a["generalization_gap_bound"].get<double>(), kGolden);

  const Json& b = g.file["theorem4b"];
  const std::vector<double> mean = b["mu_sigma"];
  EXPECT_NEAR(square, b["gamma"].get<double>(), kGolden);
  const GeneralizationBound feature = feature_bound(
      {.covariance = g.sigma(), .mean = mean, .gamma = square, .samples = 8}, g.moments);
  EXPECT_NEAR(feature.complexity, b["rademacher_bound_without_bias"].get<double>(), kGolden);
}

TEST(GeneralizationBound, OfMixupIsOneEllipsoid) {
  const Golden g;
  constexpr double kC = 1.0 / 6;
  const CoordinateMoments mixup{std::vector<double>(4, 1.0 / 3), std::vector<double>(16, kC)};
  const GeneralizationBound bound = feature_bound(
      {.covariance = g.sigma(), .mean = std::vector<double>(4), .gamma = 0.3, .samples = 8}, mixup);
  EXPECT_NEAR(bound.trace, 4 / kC, 1e-8);  // rank / c
}

TEST(GeneralizationBound, NamesARangeThatIsTooSmall) {
  // Masks that never mix bound nothing.
  const CoordinateMoments never{std::vector<double>(4), std::vector<double>(16)};
  const std::vector<double> mean(4);
  const Golden g;
  const GeneralizationBound glm =
      generalization_bound({.covariance = g.sigma(), .gamma = 1, .rho = 1, .samples = 8}, never);
  const GeneralizationBound feature =
      feature_bound({.covariance = g.sigma(), .mean = mean, .gamma = 1, .samples = 8}, never);
  for (const GeneralizationBound& bound : {glm, feature}) {
    EXPECT_THAT(bound.unmet, testing::ElementsAre(HasSubstr("range of Sigma")));
  }
}

TEST(Bounds, RefuseWhatCannotWork) {
  const Golden g;
  EXPECT_THAT(
      [&] {
        (void)generalization_bound({g.sigma(), 1, 0, 8}, g.moments);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("rho must be > 0")));
  EXPECT_THAT(
      [&] {
        (void)generalization_bound({g.sigma(), -1, 1, 8}, g.moments);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("gamma must be >= 0")));
  EXPECT_THAT(
      [&] {
        (void)generalization_bound({g.sigma().first(9), 1, 1, 8}, g.moments);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("4x4")));
  EXPECT_THAT(
      [&] {
        (void)adversarial_bound({g.samples(), g.y, g.scores, {}}, g.moments);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("gradients")));
  EXPECT_THAT(
      [&] {
        (void)linear_adversarial_bound(g.model, g.samples(), std::span(g.y).first(7), g.moments);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("need 8 labels and a theta of 4 numbers, got 7")));
  EXPECT_THAT([&] { (void)linear_adversarial_bound(g.model, g.samples(), g.y, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("nu must have 4 numbers, got 0")));
}

TEST(NMixup, ReproducesTheGoldenValues) {
  const Golden g;
  const Json& n = g.file["nmixup"];
  const std::vector<double> alpha = n["alpha"];
  const NMixupMoments moments = nmixup_moments(alpha);
  EXPECT_NEAR(moments.others, n["E_1_minus_l1"].get<double>(), kGolden);
  EXPECT_NEAR(moments.others_squares, n["E_sum_lj_sq"].get<double>(), kGolden);
  EXPECT_NEAR(moments.others_squared, n["E_1_minus_l1_sq"].get<double>(), kGolden);
  std::vector<double> x(g.x.begin(), g.x.begin() + 16);
  for (double& value : x) value += 0.25;
  const std::vector<double> y = n["y"];
  const LossTerms terms = nmixup_loss(g.model, {x, 4, 4}, y, alpha);
  EXPECT_NEAR(terms.plain, n["L_m"].get<double>(), kGolden);
  EXPECT_NEAR(terms.r1, n["R1"].get<double>(), kGolden);
  EXPECT_NEAR(terms.r2, n["R2"].get<double>(), kGolden);
  EXPECT_EQ(terms.r3, 0);
  EXPECT_NEAR(nmixup_exact_loss(g.model, {x, 4, 4}, y, alpha), n["exact"].get<double>(), kGolden);
}

TEST(NMixup, OfTwoIsMixup) {
  const std::vector<double> alpha = {0.7, 1.9};
  const NMixupMoments n = nmixup_moments(alpha);
  EXPECT_NEAR(n.others_squares, n.others_squared, 1e-15);
  const Golden g;
  const LossTerms two = nmixup_loss(g.model, g.samples(), g.y, alpha);
  const MixPolicy policy{.method = {"mixup", {{"alpha", 0.7}, {"beta", 1.9}}}};
  const LossTerms mixup = approximate_loss(
      g.model, g.samples(), g.y, coordinate_moments(effective_coefficients(policy, {1, 4})));
  EXPECT_NEAR(two.r1, mixup.r1, 1e-14);
  EXPECT_NEAR(two.r2, mixup.r2, 1e-14);
}

TEST(NMixup, IsExactForSquaredLoss) {
  Golden g;
  g.model.link = Link::squared;
  std::vector<double> x(g.x.begin(), g.x.begin() + 16);
  for (double& value : x) value += 0.25;
  const std::vector<double> y = {0.3, -1, 0.5, 2};
  for (const std::vector<double>& alpha : {std::vector{1.0, 1.0, 1.0}, {0.8, 1.2, 0.6}}) {
    EXPECT_NEAR(nmixup_loss(g.model, {x, 4, 4}, y, alpha).approximate(),
                nmixup_exact_loss(g.model, {x, 4, 4}, y, alpha), 1e-13);
  }
}

TEST(NMixup, RefusesWrongParameters) {
  EXPECT_THAT([] { (void)nmixup_moments(std::vector{1.0}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("at least two")));
  EXPECT_THAT(
      [] {
        (void)nmixup_moments(std::vector{1.0, 0.0});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("alpha must be > 0")));
  const std::vector<double> x = {1, 2, 3, 4};
  const std::vector<double> alpha = {1, 1};
  EXPECT_THAT(
      [&] {
        (void)nmixup_exact_loss({Link::logistic, {1, 1}}, {x, 2, 2}, std::vector{1.0}, alpha);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("2 labels and a theta of 2 numbers, got 1 and 2")));
  EXPECT_THAT(
      [&] {
        (void)nmixup_loss({Link::logistic, {1, 1}}, {x, 2, -2}, std::vector{1.0, 0.0}, alpha);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("got 4")));
}

}  // namespace
}  // namespace medley::theory
