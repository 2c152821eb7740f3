#include "plan/gaussian.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "core/gaussian_factor.h"

namespace medley {
namespace {

constexpr double kExact = 1e-13;  // sums of a few hundred factors good to 2 ulp

/// Mean of the kernel by its definition, pixel by pixel.
double plain_mean(const GaussianMask& mask, ImageSize size) {
  const auto pixels = static_cast<double>(size.pixels());
  double sum = 0;
  for (std::int32_t y = 0; y < size.height; ++y) {
    for (std::int32_t x = 0; x < size.width; ++x) {
      const double distance2 = std::pow(y - mask.cy, 2) + std::pow(x - mask.cx, 2);
      sum += std::exp(-std::numbers::pi * distance2 / (mask.tau * pixels));
    }
  }
  return sum / pixels;
}

TEST(GaussianKernelMean, IsTheMeanOverThePixels) {
  constexpr ImageSize kSizes[] = {{1, 1}, {1, 7}, {8, 8}, {6, 9}, {33, 17}, {224, 224}};
  for (const ImageSize size : kSizes) {
    for (const double tau : {1e-6, 0.01, 0.3, 1.0, 2.0, 50.0}) {
      for (const std::int32_t cy : {0, size.height / 3, size.height - 1}) {
        for (const std::int32_t cx : {0, size.width / 2, size.width - 1}) {
          const GaussianMask mask{cy, cx, tau, Peak::partner};
          ASSERT_NEAR(gaussian_kernel_mean(mask, size), plain_mean(mask, size), kExact)
              << size.height << "x" << size.width << " tau " << tau << " at " << cy << ", " << cx;
        }
      }
    }
  }
}

TEST(GaussianKernelMean, OfAVanishingWidthIsOnePixel) {
  EXPECT_DOUBLE_EQ(gaussian_kernel_mean({2, 3, 1e-300, Peak::own}, {6, 9}), 1.0 / 54);
}

TEST(CalibrateTau, GivesTheWantedMean) {
  constexpr ImageSize kSizes[] = {{1, 7}, {2, 1}, {8, 8}, {6, 9}, {33, 17}, {224, 224}};
  for (const ImageSize size : kSizes) {
    const double smallest = 1.0 / static_cast<double>(size.pixels());
    for (const double share : {1e-6, 0.01, 0.2, 0.5, 0.9, 0.999, 0.999999}) {
      const double mean = smallest + share * (1 - smallest);
      for (const std::int32_t cy : {0, size.height / 2}) {
        for (const std::int32_t cx : {0, size.width / 2}) {
          const double tau = calibrate_tau(cy, cx, size, mean);
          ASSERT_GT(tau, 0);
          ASSERT_NEAR(gaussian_kernel_mean({cy, cx, tau, Peak::partner}, size), mean, 1e-12)
              << size.height << "x" << size.width << " mean " << mean;
        }
      }
    }
  }
}

TEST(CalibrateTau, GrowsWithTheMean) {
  double last = 0;
  for (int i = 1; i < 100; ++i) {
    const double tau = calibrate_tau(3, 4, {8, 8}, 1.0 / 64 + i / 100.0 * (1 - 1.0 / 64));
    ASSERT_GT(tau, last);
    last = tau;
  }
}

TEST(CalibratedTau, IsNoneWhereTheMaskIsFlat) {
  for (const double lam : {0.0, 1e-10, 1.0}) EXPECT_FALSE(calibrated_tau(3, 4, {8, 8}, lam)) << lam;
  EXPECT_FALSE(calibrated_tau(0, 0, {1, 1}, 0.5));
  EXPECT_EQ(calibrated_tau(3, 4, {8, 8}, 0.3), calibrate_tau(3, 4, {8, 8}, 0.7));
  const auto narrow = calibrated_tau(3, 4, {8, 8}, 0.9999);
  ASSERT_TRUE(narrow);
  EXPECT_DOUBLE_EQ(gaussian_kernel_mean({3, 4, *narrow, Peak::partner}, {8, 8}), 1.0 / 64);
}

TEST(GaussianFactor, IsOneAtTheCenterHoweverNarrow) {
  for (const double tau : {1.0, 1e-9, 1e-300, 5e-324}) {
    EXPECT_EQ(gaussian_factor(gaussian_scale(tau, 64), 0), 1.0) << tau;
  }
}

TEST(GaussianFactor, OfAVanishingWidthIsZeroNextToTheCenter) {
  EXPECT_EQ(gaussian_factor(gaussian_scale(5e-324, 64), 1), 0.0);
  EXPECT_EQ(gaussian_factor(gaussian_scale(5e-324, 64), -32768), 0.0);
}

TEST(GaussianFactor, IsSymmetric) {
  const double scale = gaussian_scale(0.4, 100);
  for (std::int32_t d = 1; d < 20; ++d) {
    EXPECT_EQ(gaussian_factor(scale, d), gaussian_factor(scale, -d));
  }
}

}  // namespace
}  // namespace medley
