#include <cmath>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/statistics.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr ImageSize kSize{2, 3};
constexpr std::size_t kPixels = 6;

MixPolicy gaussian_field() {
  MixPolicy policy;
  policy.method = "gaussian-field";
  return policy;
}

/// Sums over many masks of N = 1 - M and of its products.
struct SampleMoments {
  std::vector<double> mean = std::vector<double>(kPixels);
  std::vector<double> second = std::vector<double>(kPixels * kPixels);
};

SampleMoments sample_moments(const MixPolicy& policy, std::size_t masks) {
  const MixPlan plan = test::draw_samples(policy, kSize, 31, static_cast<std::int64_t>(masks));
  SampleMoments m;
  const auto share = 1.0 / static_cast<double>(masks);
  for (const MixEntry& entry : plan.entries) {
    const auto values = test::values_of(plan, entry);
    for (std::size_t j = 0; j < kPixels; ++j) {
      m.mean[j] += share * (1 - values[j]);
      for (std::size_t k = 0; k < kPixels; ++k) {
        m.second[j * kPixels + k] += share * (1 - values[j]) * (1 - values[k]);
      }
    }
  }
  return m;
}

constexpr std::size_t kMasks = 20000;

/// Var(N_j N_k) <= 3 A_jj A_kk for Gaussians of any mean.
double moment_bound(double a_jj, double a_kk) {
  return test::kSigmas * std::sqrt(3 * a_jj * a_kk / kMasks);
}

void expect_moments(const MixPolicy& policy, const std::vector<double>& mean,
                    const std::vector<double>& second) {
  const SampleMoments sample = sample_moments(policy, kMasks);
  const auto diagonal = [&](std::size_t j) { return second[j * kPixels + j]; };
  for (std::size_t j = 0; j < kPixels; ++j) {
    EXPECT_NEAR(sample.mean[j], mean[j], test::kSigmas * std::sqrt(diagonal(j) / kMasks)) << j;
    for (std::size_t k = 0; k < kPixels; ++k) {
      EXPECT_NEAR(sample.second[j * kPixels + k], second[j * kPixels + k],
                  moment_bound(diagonal(j), diagonal(k)))
          << j << ", " << k;
    }
  }
}

TEST(GaussianField, OfADenseDesignHasItsMoments) {
  // Independent pixels of variance 0.04 around a sloping mean, with a common part of variance 0.09.
  std::vector<double> nu, a;
  for (std::size_t j = 0; j < kPixels; ++j) nu.push_back(0.2 + 0.1 * static_cast<double>(j));
  for (std::size_t j = 0; j < kPixels; ++j) {
    for (std::size_t k = 0; k < kPixels; ++k) {
      a.push_back(nu[j] * nu[k] + 0.09 + (j == k ? 0.04 : 0));
    }
  }
  MixPolicy policy = gaussian_field();
  policy.method.set("design",
                    std::make_shared<GaussianDesign>(GaussianDesign::dense(kSize, a, nu)));
  expect_moments(policy, nu, a);
}

TEST(GaussianField, OfAKroneckerDesignHasItsMoments) {
  constexpr double kMean = 0.5;
  const std::vector<double> rows = {1.0, 0.6, 0.6, 1.0};
  const std::vector<double> columns = {1.0, 0.7, 0.5, 0.7, 1.0, 0.7, 0.5, 0.7, 1.0};
  std::vector<double> a;
  for (std::size_t j = 0; j < kPixels; ++j) {
    for (std::size_t k = 0; k < kPixels; ++k) {
      a.push_back(rows[j / 3 * 2 + k / 3] * columns[j % 3 * 3 + k % 3]);
    }
  }
  MixPolicy policy = gaussian_field();
  policy.method.set("design", std::make_shared<GaussianDesign>(
                                  GaussianDesign::kronecker(rows, 2, columns, 3, kMean)));
  expect_moments(policy, std::vector<double>(kPixels, kMean), a);
}

TEST(GaussianField, WithoutADesignIsSmoothAroundLam) {
  constexpr double kLam = 0.3;
  MixPolicy policy = gaussian_field();
  policy.method.set("lam", kLam);
  policy.method.set("sigma", 0.4);
  policy.method.set("length", 0.5);
  std::vector<double> second;
  for (std::size_t j = 0; j < kPixels; ++j) {
    for (std::size_t k = 0; k < kPixels; ++k) {
      const auto apart = [](std::size_t a, std::size_t b) {
        return static_cast<double>(a) - static_cast<double>(b);
      };
      const double dy = apart(j / 3, k / 3) / (0.5 * 2), dx = apart(j % 3, k % 3) / (0.5 * 3);
      second.push_back((1 - kLam) * (1 - kLam) + 0.16 * std::exp(-0.5 * (dy * dy + dx * dx)));
    }
  }
  expect_moments(policy, std::vector<double>(kPixels, 1 - kLam), second);
}

TEST(GaussianField, IsNotClipped) {
  MixPolicy policy = gaussian_field();
  policy.method.set("lam", 0.5);
  policy.method.set("sigma", 1);
  const MixPlan plan = test::draw_samples(policy, kSize, 32, 100);
  EXPECT_LT(*std::min_element(plan.fields.begin(), plan.fields.end()), 0);
  EXPECT_GT(*std::max_element(plan.fields.begin(), plan.fields.end()), 1);
}

TEST(GaussianField, TakesLamFromItsDesign) {
  const std::vector<double> nu(kPixels, 0.25);
  std::vector<double> a(kPixels * kPixels, 0.0625);
  for (std::size_t j = 0; j < kPixels; ++j) a[j * kPixels + j] += 0.01;
  MixPolicy policy = gaussian_field();
  policy.method.set("design",
                    std::make_shared<GaussianDesign>(GaussianDesign::dense(kSize, a, nu)));
  EXPECT_DOUBLE_EQ(test::draw_samples(policy, kSize, 33, 1).entries[0].lam, 0.75);
  policy.method.set("lam", 0.75);
  EXPECT_NO_THROW((void)test::draw_samples(policy, kSize, 33, 1));
  policy.method.set("lam", 0.5);
  EXPECT_THAT([&] { (void)test::draw_samples(policy, kSize, 33, 1); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("0.75"), HasSubstr("0.5"))));
}

TEST(GaussianField, NeedsADesignOfTheImagesSize) {
  MixPolicy policy = gaussian_field();
  policy.method.set(
      "design", std::make_shared<GaussianDesign>(GaussianDesign::smooth({4, 4}, 0.1, 0.25, 0.5)));
  EXPECT_THAT([&] { (void)test::draw_samples(policy, kSize, 34, 1); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("4x4"), HasSubstr("2x3"))));
}

}  // namespace
}  // namespace medley
