#include "medley/theory/coefficients.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "medley/error.h"
#include "medley/gaussian_design.h"
#include "moments/beta_law.h"
#include "moments/box_moments.h"
#include "theory/enumeration.h"
#include "theory/options.h"

namespace medley::theory {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kExact = 1e-12;       // closed forms
constexpr double kIntegrated = 1e-10;  // with an integral over lam

struct Case {
  MixPolicy policy;
  ImageSize size;

  [[nodiscard]] std::string name() const {
    return test::described(policy) + " " + std::to_string(size.height) + "x" +
           std::to_string(size.width);
  }
};

/// Every static method with every placement and form, lams and sizes that round in all ways.
std::vector<Case> cases() {
  std::vector<Case> list;
  const double lams[] = {0, 0.05, 0.25, 0.5, 0.65, 0.9, 1};
  for (const ImageSize size : {ImageSize{1, 1}, {1, 6}, {4, 3}, {5, 5}, {3, 7}, {6, 4}}) {
    for (const double lam : lams) {
      const auto add = [&](MixPolicy policy) {
        policy.method.set("lam", lam);
        list.push_back({policy, size});
      };
      add({.method = "mixup"});
      if (size.pixels() <= 12) add({.method = "bernoulli"});
      for (const Placement placement : {Placement::inside, Placement::clipped, Placement::wrap}) {
        add({.method = {"cutmix", {{"placement", placement}}}});
        add({.method = {"stochastic", {{"placement", placement}, {"q_mix", 0.3}}}});
        for (const double ratio : {0.0, 0.5, 0.75, 1.0}) {
          for (const Form form : {Form::code, Form::paper}) {
            add({.method = {"hmix", {{"placement", placement}, {"form", form}, {"ratio", ratio}}}});
          }
        }
      }
      // At the ends of the range gmix is flat, and calibration cannot follow lam.
      const double share = 1 - lam;
      if (lam > 0 && lam < 1) {
        add({.method = {"gmix", {{"form", Form::code}}}});
        add({.method = {"gmix", {{"form", Form::paper}}}});
        if (share * static_cast<double>(size.pixels()) > 1.01) {
          add({.method = {"gmix", {{"form", Form::calibrated}}}});
        }
      }
    }
  }
  return list;
}

void expect_equal(const MaskMoments& moments, const test::Moments& expected, double tolerance) {
  const auto pixels = static_cast<std::size_t>(expected.size.pixels());
  const std::vector<double> means = moments.means();
  const std::vector<double> map = moments.map();
  const std::vector<double> expected_map = expected.map();
  const std::vector<double> matrix = moments.matrix();
  const auto pixel = [&](std::size_t i) {
    return Pixel{static_cast<std::int32_t>(i) / expected.size.width,
                 static_cast<std::int32_t>(i) % expected.size.width};
  };
  for (std::size_t j = 0; j < pixels; ++j) {
    ASSERT_NEAR(means[j], expected.mean[j], tolerance);
    ASSERT_NEAR(moments.mean(pixel(j)), expected.mean[j], tolerance);
    ASSERT_NEAR(map[j], expected_map[j], tolerance) << "displacement " << j;
    for (std::size_t k = 0; k < pixels; ++k) {
      ASSERT_NEAR(matrix[j * pixels + k], expected.second[j * pixels + k], tolerance);
      ASSERT_NEAR(moments.second(pixel(j), pixel(k)), expected.second[j * pixels + k], tolerance);
    }
  }
}

TEST(Coefficients, EqualTheSumOverEveryMask) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name());
    const auto masks = test::all_masks(c.policy, c.size);
    expect_equal(coefficients(c.policy, c.size), test::plain_moments(masks, c.size), kExact);
    if (HasFatalFailure()) return;
  }
}

TEST(EffectiveCoefficients, EqualTheSumOverEveryMaskAndBothLabels) {
  for (Case c : cases()) {
    const auto masks = test::all_masks(c.policy, c.size);
    for (const LabelRule rule : {LabelRule::realized, LabelRule::drawn}) {
      c.policy.label = rule;
      SCOPED_TRACE(c.name() + " " + std::string(name_of(rule)));
      const double share = rule == LabelRule::drawn ? 1 - *test::lam_of(c.policy) : -1;
      expect_equal(effective_coefficients(c.policy, c.size),
                   test::effective_moments(masks, c.size, share), kExact);
      if (HasFatalFailure()) return;
    }
  }
}

/// Integral over lam by brute force: fine panels between all lams at which a side of a box of
/// relative area (1 - lam) * ratio changes.
test::Moments integrated(const MixPolicy& policy, ImageSize size, double ratio) {
  const auto alpha = test::option_of<double>(policy, "alpha");
  const double beta = test::option_of<std::optional<double>>(policy, "beta").value_or(alpha);
  const double tolerance = area_tolerance(alpha, beta);
  std::vector<double> breaks = {0, 0.5, 1};
  for (const int n : {size.height, size.width}) {
    for (int s = 1; s <= n; ++s) {
      const double share = static_cast<double>(s) * s / (n * n) / (1 + tolerance) / ratio;
      if (share < 1) breaks.push_back(1 - share);
    }
  }
  std::sort(breaks.begin(), breaks.end());
  const auto pixels = static_cast<std::size_t>(size.pixels());
  test::Moments sum{size, std::vector<double>(pixels), std::vector<double>(pixels * pixels)};
  for (std::size_t i = 1; i < breaks.size(); ++i) {
    for (const Node& node : beta_nodes_between(alpha, beta, breaks[i - 1], breaks[i])) {
      MixPolicy at = policy;
      at.method.set("lam", node.x);
      const test::Moments m = test::effective_moments(
          test::all_masks(at, size), size, policy.label == LabelRule::drawn ? 1 - node.x : -1);
      for (std::size_t k = 0; k < pixels; ++k) sum.mean[k] += node.weight * m.mean[k];
      for (std::size_t k = 0; k < pixels * pixels; ++k) sum.second[k] += node.weight * m.second[k];
    }
  }
  return sum;
}

TEST(EffectiveCoefficients, OfAConcentratedLawAreThoseOfItsMean) {
  const ImageSize size{5, 6};
  for (const char* method : {"mixup", "cutmix", "hmix", "gmix"}) {
    MixPolicy policy;
    policy.method = method;
    policy.method.set("alpha", 1e15);
    const std::vector<double> drawn = effective_coefficients(policy, size).map();
    policy.method.set("lam", 0.5);
    const std::vector<double> fixed = effective_coefficients(policy, size).map();
    for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_NEAR(drawn[i], fixed[i], 1e-6) << method;
  }
}

TEST(EffectiveCoefficients, OfALawNarrowerThanNumbersAreThoseOfItsMean) {
  const ImageSize size{1, 3};
  std::vector<MixPolicy> policies = {{.method = {"gmix", {{"form", Form::paper}}}},
                                     {.method = {"hmix", {{"form", Form::paper}}}},
                                     {.method = {"hmix", {{"gamma", 1}}}},
                                     {.method = {"hmix", {{"form", Form::paper}, {"gamma", 1}}}}};
  for (MixPolicy& policy : policies) {
    policy.method.set("lam", 0.5);
    const std::vector<double> fixed = effective_coefficients(policy, size).map();
    policy.method.set("lam", {});
    for (const double alpha : {1e30, 1e33, 1e36, 1e60}) {
      policy.method.set("alpha", alpha);
      const std::vector<double> drawn = effective_coefficients(policy, size).map();
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        EXPECT_NEAR(drawn[i], fixed[i], 1e-14) << test::described(policy);
      }
    }
  }
  // The published gmix jumps at 1/2, and half of the law is on either side.
  const auto map = [&](std::optional<double> alpha, std::optional<double> lam) {
    MixPolicy policy{.method = {"gmix", {{"lam", lam}, {"form", Form::code}}}};
    if (alpha) policy.method.set("alpha", *alpha);
    return effective_coefficients(policy, size).map()[0];
  };
  EXPECT_NEAR(map(1e36, {}), (map({}, std::nextafter(0.5, 0)) + map({}, 0.5)) / 2, 1e-14);
}

TEST(EffectiveCoefficients, IntegrateOverLam) {
  const ImageSize size{3, 4};
  for (const auto& [alpha, beta] : {std::pair(1.0, 1.0), {0.5, 0.5}, {2.0, 1.0}, {0.2, 3.0}}) {
    for (const LabelRule label : {LabelRule::realized, LabelRule::drawn}) {
      std::vector<Case> list;
      const auto add = [&, a = alpha, b = beta](MixPolicy policy) {
        policy.method.set("alpha", a).set("beta", b);
        policy.label = label;
        list.push_back({policy, size});
      };
      add({.method = "mixup"});
      add({.method = "bernoulli"});
      for (const Placement placement : {Placement::inside, Placement::clipped, Placement::wrap}) {
        add({.method = {"cutmix", {{"placement", placement}}}});
        add({.method = {"stochastic", {{"placement", placement}, {"q_mix", 0.3}}}});
        add({.method = {"hmix",
                        {{"placement", placement}, {"form", Form::code}, {"ratio", 0.75}}}});
        add({.method = {"hmix",
                        {{"placement", placement}, {"form", Form::paper}, {"ratio", 0.5}}}});
      }
      for (const Case& c : list) {
        SCOPED_TRACE(c.name() + " " + std::string(name_of(label)) + " " + std::to_string(alpha));
        const bool boxes = c.policy.method.uses("placement");
        const auto ratio = test::option_of<double>(c.policy, "ratio", boxes ? 1 : 0);
        expect_equal(effective_coefficients(c.policy, c.size), integrated(c.policy, size, ratio),
                     kIntegrated);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(EffectiveCoefficients, CountTheFullBoxesOfTinyLams) {
  // Every lam below kAreaTolerance gives the full box: a probability of 13 % at alpha 0.05.
  const ImageSize size{4, 4};
  for (const double alpha : {0.02, 0.05}) {
    for (const LabelRule label : {LabelRule::realized, LabelRule::drawn}) {
      for (const char* method : {"cutmix", "hmix"}) {
        MixPolicy policy{.method = {method, {{"alpha", alpha}, {"placement", Placement::inside}}},
                         .label = label};
        policy.method.set_if_used("ratio", 1);
        SCOPED_TRACE((Case{policy, size}.name()));
        expect_equal(effective_coefficients(policy, size), integrated(policy, size, 1),
                     kIntegrated);
      }
    }
  }
}

TEST(EffectiveCoefficients, OfGaussiansDoNotDependOnTheRule) {
  // The same integral by many plain panels instead of graded ones. They are split at 1/2 and 11/12,
  // where masks jump and bend.
  const ImageSize size{4, 3};
  constexpr int kPanels = 384;
  for (const Form form : {Form::code, Form::paper, Form::calibrated}) {
    for (const double alpha : {0.5, 1.0, 2.5}) {
      const MixPolicy policy{.method = {"gmix", {{"alpha", alpha}, {"form", form}}}};
      std::vector<double> sum(12);
      for (int i = 0; i < kPanels; ++i) {
        for (const Node& node : beta_nodes_between(alpha, alpha, static_cast<double>(i) / kPanels,
                                                   static_cast<double>(i + 1) / kPanels)) {
          MixPolicy at = policy;
          at.method.set("lam", node.x);
          const std::vector<double> map = effective_coefficients(at, size).map();
          for (std::size_t k = 0; k < 12; ++k) sum[k] += node.weight * map[k];
        }
      }
      const std::vector<double> map = effective_coefficients(policy, size).map();
      for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(map[k], sum[k], kIntegrated);
    }
  }
}

TEST(EffectiveCoefficients, OfOnePixelAreThoseOfMixup) {
  const double mixup =
      effective_coefficients({.method = {"mixup", {{"alpha", 0.5}}}}, {1, 1}).map()[0];
  const MixPolicy gmix{.method = {"gmix", {{"alpha", 0.5}, {"form", Form::calibrated}}}};
  EXPECT_NEAR(effective_coefficients(gmix, {1, 1}).map()[0], mixup, kExact);
}

/// A few policies with all their lams.
std::vector<Case> drawn_cases() {
  std::vector<Case> list;
  for (const char* method : {"mixup", "cutmix", "stochastic", "hmix", "gmix", "bernoulli"}) {
    list.push_back({{.method = method}, {5, 4}});
    MixPolicy other{.method = method};
    other.method.set_if_used("placement", Placement::inside);
    other.method.set_if_used("form", Form::paper);
    list.push_back({other, {5, 4}});
  }
  list.push_back({{.method = {"hmix", {{"gamma", 0.7}}}}, {5, 4}});
  list.push_back({{.method = "gaussian-field"}, {5, 4}});
  list.push_back({{.method = {"gmix", {{"form", Form::calibrated}}}}, {5, 4}});
  return list;
}

TEST(EffectiveCoefficients, AreSecondMomentsOfAMask) {
  for (const Case& c : drawn_cases()) {
    SCOPED_TRACE(c.name());
    const MaskMoments m = effective_coefficients(c.policy, c.size);
    const std::vector<double> nu = m.means();
    const std::vector<double> a = m.matrix();
    const Eigen::Map<const Eigen::VectorXd> mean(nu.data(), std::ssize(nu));
    const Matrix covariance = Eigen::Map<const Matrix>(a.data(), std::ssize(nu), std::ssize(nu)) -
                              mean * mean.transpose();
    const double smallest = Eigen::SelfAdjointEigenSolver<Matrix>(covariance).eigenvalues()(0);
    EXPECT_GT(smallest, -1e-13);
  }
}

TEST(Coefficients, OfHmixHaveGridMeanLamForEveryDraw) {
  // mean_jk a = E[(mean N)^2] = (1 - lam)^2 when every draw has mean 1 - lam.
  for (const Placement placement : {Placement::inside, Placement::clipped, Placement::wrap}) {
    for (const double lam : {0.1, 0.5, 0.8}) {
      const MixPolicy policy{
          .method = {"hmix", {{"lam", lam}, {"placement", placement}, {"ratio", 0.7}}}};
      const std::vector<double> a = coefficients(policy, {6, 7}).matrix();
      double sum = 0;
      for (const double value : a) sum += value;
      EXPECT_NEAR(sum / static_cast<double>(a.size()), (1 - lam) * (1 - lam), kExact);
    }
  }
}

TEST(EffectiveCoefficients, OfSelfDualMethodsAreThePapersAverage) {
  // Mixup and bernoulli: ~a = E over the size-biased law of a(lam), whose moments are closed.
  for (const auto& [alpha, beta] : {std::pair(1.0, 1.0), {0.5, 0.5}, {2.0, 1.0}, {0.3, 5.0}}) {
    const KeptLabelMoments kept = kept_label_moments(alpha, beta);
    const MixPolicy mixup{.method = {"mixup", {{"alpha", alpha}, {"beta", beta}}}};
    const MaskMoments m = effective_coefficients(mixup, {3, 3});
    EXPECT_NEAR(m.second({0, 0}, {2, 1}), kept.partner_squared, kExact);
    EXPECT_NEAR(m.mean({1, 1}), kept.partner, kExact);
    const MixPolicy bernoulli{.method = {"bernoulli", {{"alpha", alpha}, {"beta", beta}}},
                              .label = LabelRule::drawn};
    const MaskMoments b = effective_coefficients(bernoulli, {3, 3});
    EXPECT_NEAR(b.second({1, 1}, {1, 1}), kept.partner, kExact);
    EXPECT_NEAR(b.second({1, 1}, {1, 2}), kept.partner_squared, kExact);
  }
}

TEST(Coefficients, OfHmixInterpolateMixupAndCutMix) {
  const ImageSize size{9, 6};
  for (const double lam : {0.2, 0.5, 0.75}) {
    MixPolicy hmix{.method = {"hmix", {{"lam", lam}, {"form", Form::paper}, {"ratio", 0}}}};
    const auto zero = coefficients(hmix, size).map();
    const auto flat = coefficients({.method = {"mixup", {{"lam", lam}}}}, size).map();
    for (std::size_t i = 0; i < zero.size(); ++i) EXPECT_NEAR(zero[i], flat[i], kExact);
    hmix.method.set("ratio", 1);
    const auto one = coefficients(hmix, size).map();
    const auto cut = coefficients({.method = {"cutmix", {{"lam", lam}}}}, size).map();
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], cut[i], kExact);
  }
}

TEST(Coefficients, ProbabilityOfMixingScalesThem) {
  const MixPolicy always{.method = {"cutmix", {{"lam", 0.4}}}};
  MixPolicy sometimes = always;
  sometimes.prob = 0.25;
  const auto all = effective_coefficients(always, {5, 5}).map();
  const auto some = effective_coefficients(sometimes, {5, 5}).map();
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(some[i], 0.25 * all[i], kExact);
}

TEST(EffectiveCoefficients, OfTwoDirichletWeightsAreThoseOfMixup) {
  const MixPolicy two{.method = {"nmixup", {{"n", 2}, {"alpha", 0.4}}}};
  const MixPolicy mixup{.method = {"mixup", {{"alpha", 0.4}}}};
  EXPECT_EQ(effective_coefficients(two, {2, 3}).map(), effective_coefficients(mixup, {2, 3}).map());
  EXPECT_FALSE(has_closed_form({.method = {"nmixup", {{"n", 2}, {"power", 2}}}}, true));
}

TEST(GmixPlane, EndsAtZero) {
  for (const Form form : {Form::paper, Form::code}) {
    for (const double dx : {0.0, 2.0}) EXPECT_EQ(gmix_plane(form, 1, {4, 4}, 0, dx), 0);
  }
}

TEST(Coefficients, TakeBigImages) {
  const auto map = coefficients({.method = {"hmix", {{"lam", 0.5}}}}, {512, 512}).map();
  EXPECT_EQ(map.size(), 512u * 512u);
  EXPECT_GT(map.front(), map.back());
}

TEST(Coefficients, RefuseWhatCannotWork) {
  const auto message = [](const MixPolicy& policy, ImageSize size, const char* text) {
    EXPECT_THAT([&] { (void)coefficients(policy, size); },
                ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  };
  message({.method = "cutmix"}, {8, 8}, "fix lam, or ask for the effective ones");
  message({.method = {"cutmix", {{"lam", 0.5}}}}, {0, 8}, "height and width must be");
  message({.method = {"fmix", {{"lam", 0.5}}}}, {8, 8}, "no closed form");
  const auto design =
      std::make_shared<const GaussianDesign>(GaussianDesign::smooth({8, 8}, 0.1, 0.2, 0.5));
  message({.method = {"gaussian-field", {{"lam", 0.5}, {"design", design}}}}, {8, 8},
          "gaussian-field masks with these options have no closed form");
  message({.method = {"gmix", {{"lam", 0.5}, {"form", Form::calibrated}}}}, {2000, 2000},
          "monte_carlo");
  const MaskMoments m = coefficients({.method = {"cutmix", {{"lam", 0.5}}}}, {65, 64});
  EXPECT_THAT([&] { (void)m.matrix(); }, ThrowsMessage<InvalidArgument>(HasSubstr("at most 4096")));
  EXPECT_THAT(
      [&] {
        (void)m.mean({65, 0});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("row 0 to 64")));
  EXPECT_THAT(
      [] {
        (void)effective_coefficients({.method = "nmixup"}, {8, 8});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("nmixup_moments")));
  EXPECT_THAT(
      [] {
        (void)box_coefficients({9, 1}, {8, 8});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("fit the image")));
}

}  // namespace
}  // namespace medley::theory
