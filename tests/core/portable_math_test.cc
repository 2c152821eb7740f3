#include "core/portable_math.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "medley/random.h"

namespace medley {
namespace {

/// What the declarations promise.
constexpr long double kUlps = 2;

/// Distance of `value` from the exact result in units of its last place.
long double ulps(double value, long double exact) {
  const auto rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), std::numeric_limits<double>::infinity()) -
                      std::abs(rounded);
  return std::abs(static_cast<long double>(value) - exact) / unit;
}

/// Calls visit with numbers spread evenly over the logarithms between 2^low and 2^high.
template <typename Visit>
void for_each_scale(int low, int high, const Visit& visit) {
  RandomStream random(11, 0, 0, Purpose::picture);
  for (int exponent = low; exponent < high; ++exponent) {
    for (int i = 0; i < 100; ++i) visit(std::ldexp(1 + random.uniform(), exponent));
  }
}

TEST(ExpNonpositive, IsWithinTwoUlpOverItsRange) {
  RandomStream random(12, 0, 0, Purpose::picture);
  for (int i = 0; i < 200000; ++i) {
    const double x = -708 * random.uniform();
    ASSERT_LE(ulps(exp_nonpositive(x), std::exp(static_cast<long double>(x))), kUlps) << x;
  }
}

TEST(ExpNonpositive, IsWithinTwoUlpAtEveryScale) {
  for_each_scale(-1022, 9, [](double magnitude) {
    ASSERT_LE(ulps(exp_nonpositive(-magnitude), std::exp(-static_cast<long double>(magnitude))),
              kUlps)
        << -magnitude;
  });
}

TEST(ExpNonpositive, IsOneAtZero) {
  EXPECT_EQ(exp_nonpositive(0.0), 1.0);
  EXPECT_EQ(exp_nonpositive(-0.0), 1.0);
}

TEST(ExpNonpositive, EndsWhereResultsAreNoLongerNormal) {
  EXPECT_LE(ulps(exp_nonpositive(-708.0), std::exp(-708.0L)), kUlps);
  EXPECT_EQ(exp_nonpositive(std::nextafter(-708.0, -709.0)), 0.0);
  EXPECT_EQ(exp_nonpositive(-1e300), 0.0);
  EXPECT_EQ(exp_nonpositive(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(ExpNonpositive, NeverExceedsOne) {
  for_each_scale(-80, 0, [](double magnitude) { ASSERT_LE(exp_nonpositive(-magnitude), 1.0); });
}

TEST(LogPositive, IsWithinTwoUlpAtEveryScale) {
  for_each_scale(-1022, 1024, [](double x) {
    ASSERT_LE(ulps(log_positive(x), std::log(static_cast<long double>(x))), kUlps) << x;
  });
}

TEST(LogPositive, IsWithinTwoUlpCloseToOne) {
  for_each_scale(-52, -1, [](double distance) {
    for (const double x : {1 + distance, 1 - distance}) {
      ASSERT_LE(ulps(log_positive(x), std::log(static_cast<long double>(x))), kUlps) << x;
    }
  });
}

TEST(LogPositive, IsZeroAtOne) { EXPECT_EQ(log_positive(1.0), 0.0); }

TEST(LogPositive, UndoesExp) {
  // The error of exp, 2 ulp, and of log itself, relative to the larger of result and 1.
  constexpr double kRelative = 1e-15;
  for_each_scale(-20, 9, [](double magnitude) {
    ASSERT_NEAR(log_positive(exp_nonpositive(-magnitude)), -magnitude,
                kRelative * std::max(1.0, magnitude));
  });
}

}  // namespace
}  // namespace medley
