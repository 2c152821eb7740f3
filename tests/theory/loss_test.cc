#include "medley/theory/loss.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "medley/random.h"
#include "moments/beta_law.h"
#include "plan/box.h"
#include "theory/check_loss.h"
#include "theory/options.h"

namespace medley::theory {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kRounding = 4e-12;

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, 0, 0, Purpose::picture);
  std::vector<double> values(count);
  for (double& value : values) value = random.normal();
  return values;
}

/// Every listable policy.
std::vector<MixPolicy> policies() {
  std::vector<MixPolicy> list;
  for (const LabelRule label : {LabelRule::realized, LabelRule::drawn}) {
    list.push_back({.method = "mixup", .label = label});
    list.push_back({.method = "bernoulli", .label = label});
    for (const Placement placement : {Placement::inside, Placement::clipped, Placement::wrap}) {
      list.push_back({.method = {"cutmix", {{"placement", placement}}}, .label = label});
      list.push_back(
          {.method = {"stochastic", {{"placement", placement}}}, .prob = 0.8, .label = label});
      list.push_back({.method = {"hmix", {{"placement", placement}}}, .label = label});
    }
    list.push_back({.method = {"hmix", {{"form", Form::paper}}}, .label = label});
    for (const Form form : {Form::code, Form::paper, Form::calibrated}) {
      list.push_back({.method = {"gmix", {{"form", form}}}, .label = label});
    }
    list.push_back({.method = {"gmix", {{"lam", 0.3}}}, .label = label});
    list.push_back({.method = {"gmix", {{"lam", 0.7}, {"form", Form::paper}}}, .label = label});
    list.push_back(
        {.method = {"gmix", {{"lam", 0.6}, {"form", Form::calibrated}}}, .label = label});
  }
  return list;
}

TEST(ApproximateLoss, IsExactForSquaredLossAndLinearScores) {
  // The expansion stops at second order there, so any wrong coefficient shows.
  const ImageSize size{4, 3};
  const std::vector<double> x = normals(6 * 12, 1);
  const std::vector<double> y = normals(6, 2);
  const Glm model{Link::squared, normals(12, 3), 0.4};
  const Samples samples{x, 6, 12};
  for (const MixPolicy& policy : policies()) {
    SCOPED_TRACE(test::described(policy));
    const double exact = exact_loss(model, samples, y, enumerate_masks(policy, size));
    const double approximate =
        approximate_loss(model, samples, y,
                         coordinate_moments(effective_coefficients(policy, size)))
            .approximate();
    EXPECT_NEAR(approximate, exact, kRounding * std::abs(exact) * 100);
  }
}

TEST(EnumerateMasks, AreALawWithTheCoefficients) {
  const ImageSize size{4, 3};
  for (const MixPolicy& policy : policies()) {
    SCOPED_TRACE(test::described(policy));
    double total = 0;
    std::vector<double> nu(12);
    for (const WeightedMask& mask : enumerate_masks(policy, size)) {
      total += mask.probability;
      for (std::size_t j = 0; j < 12; ++j) {
        const double q = 1 - mask.label_weight;
        const double n = 1 - mask.own[j];
        nu[j] += mask.probability * (q + n - 2 * q * n);
      }
    }
    EXPECT_NEAR(total, 1, 1e-12);
    const std::vector<double> expected = effective_coefficients(policy, size).means();
    for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(nu[j], expected[j], 1e-11);
  }
}

TEST(EnumerateMasks, HaveTheFullBoxesOfTinyLams) {
  const MixPolicy policy{.method = {"cutmix", {{"alpha", 0.05}, {"placement", Placement::inside}}}};
  double full = 0;
  for (const WeightedMask& mask : enumerate_masks(policy, {4, 4})) {
    if (std::ranges::max(mask.own) == 0) full += mask.probability;
  }
  // The tolerance is rounded when it is added to 1.
  EXPECT_NEAR(full, beta_cdf(0.05, 0.05, kAreaTolerance), 1e-6);
}

TEST(EnumerateMasks, OfBernoulliSumToOneForAnyAlpha) {
  const ImageSize size{2, 3};
  for (const double alpha : {1e-3, 1.0, 1e6, 1e10, 1e14, 1e200}) {
    double total = 0;
    double mean = 0;
    for (const WeightedMask& mask : enumerate_masks(
             {.method = {"bernoulli", {{"alpha", alpha}, {"beta", 3 * alpha}}}}, size)) {
      total += mask.probability;
      mean += mask.probability * mask.own[0];
    }
    EXPECT_NEAR(total, 1, 1e-14) << alpha;
    EXPECT_NEAR(mean, 0.25, 1e-14) << alpha;
  }
}

TEST(EnumerateMasks, OfGmixHaveNoKernelWhereLamIsRoundedToZero) {
  // Lams below e^-708 are drawn as 0: a probability of x^alpha / (alpha B(alpha, alpha)).
  for (const double alpha : {0.001, 0.01, 0.018}) {
    double none = 0;
    double total = 0;
    const MixPolicy policy{.method = {"gmix", {{"alpha", alpha}, {"form", Form::code}}}};
    for (const WeightedMask& mask : enumerate_masks(policy, {2, 3})) {
      total += mask.probability;
      if (std::ranges::max(mask.own) == 0) none += mask.probability;
    }
    const double probability =
        std::exp(-708 * alpha + std::lgamma(2 * alpha) - 2 * std::lgamma(alpha) - std::log(alpha));
    EXPECT_NEAR(none, probability, 1e-12) << alpha;
    EXPECT_NEAR(total, 1, 1e-12) << alpha;
  }
}

TEST(ApproximateLoss, GradientIsTheDerivative) {
  const std::vector<double> x = normals(5 * 4, 4);
  const std::vector<double> y = {0, 1, 1, 0, 1};
  const Samples samples{x, 5, 4};
  const MixPolicy policy{.method = "cutmix"};
  const CoordinateMoments moments = coordinate_moments(effective_coefficients(policy, {2, 2}));
  const auto masks = enumerate_masks(policy, {2, 2});
  Glm model{Link::logistic, normals(4, 5), 0.2};
  std::vector<double> approximate(5), exact(5);
  (void)approximate_loss(model, samples, y, moments, approximate);
  (void)exact_loss(model, samples, y, masks, exact);
  constexpr double kStep = 1e-5;
  for (std::size_t k = 0; k < 5; ++k) {
    const auto losses = [&](double shift) {
      Glm moved = model;
      (k < 4 ? moved.theta[k] : moved.bias) += shift;
      return std::pair(approximate_loss(moved, samples, y, moments).approximate(),
                       exact_loss(moved, samples, y, masks));
    };
    const auto up = losses(kStep);
    const auto down = losses(-kStep);
    EXPECT_NEAR(approximate[k], (up.first - down.first) / (2 * kStep), 1e-9);
    EXPECT_NEAR(exact[k], (up.second - down.second) / (2 * kStep), 1e-9);
  }
}

TEST(Coefficients, QuadraticFormNeedsNoMatrix) {
  const ImageSize size{5, 4};
  const std::vector<double> v = normals(20, 6);
  std::vector<MixPolicy> list = policies();
  list.push_back({.method = "gmix"});
  list.push_back({.method = "gaussian-field"});
  for (const MixPolicy& policy : list) {
    SCOPED_TRACE(test::described(policy));
    const MaskMoments m = effective_coefficients(policy, size);
    const std::vector<double> a = m.matrix();
    double sum = 0;
    for (std::size_t j = 0; j < 20; ++j) {
      for (std::size_t k = 0; k < 20; ++k) sum += v[j] * a[j * 20 + k] * v[k];
    }
    EXPECT_NEAR(m.quadratic(v), sum, 1e-11);
  }
}

TEST(Loss, RefusesWhatDoesNotFit) {
  const std::vector<double> x = {1, 2, 3, 4};
  const std::vector<double> y = {0, 1};
  const Glm model{Link::logistic, {1, 1, 1}, 0};
  EXPECT_THAT(
      [&] {
        (void)exact_loss(model, {x, 2, 2}, y, {});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("theta of 2 numbers, got 2 and 3")));
  EXPECT_THAT(
      [&] {
        (void)exact_loss(model, {x, 2, 3}, y, {});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("are 6 numbers, got 4")));
  const std::vector<double> bad = {1, std::nan("")};
  EXPECT_THAT(
      [&] {
        check_samples({bad, 1, 2});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
  EXPECT_THAT(
      [] {
        (void)enumerate_masks({.method = "bernoulli"}, {5, 5});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("at most 20 pixels")));
  EXPECT_THAT(
      [] {
        (void)enumerate_masks({.method = "fmix"}, {5, 5});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("cannot be listed")));
  EXPECT_THAT(
      [] {
        (void)enumerate_masks({.method = "cutmix"}, {50, 50}, 100);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("more than 100 masks")));
}

}  // namespace
}  // namespace medley::theory
