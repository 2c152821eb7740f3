#include "kernels/pixel.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/halves.h"
#include "medley/random.h"

namespace medley {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
T stored(float value) {
  T out;
  store(value, out);
  return out;
}

// ---- storage types ----

TEST(F16, EveryPatternHasItsValue) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const F16 half{static_cast<std::uint16_t>(bits)};
    const double expected = test::f16_format().value(half.bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(to_float(half))) << bits;
    } else {
      ASSERT_EQ(to_float(half), expected) << bits;
      ASSERT_EQ(std::signbit(to_float(half)), bits >= 0x8000) << bits;
    }
  }
}

TEST(F16, EveryPatternSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const F16 half{static_cast<std::uint16_t>(bits)};
    const F16 back = stored<F16>(to_float(half));
    if (test::f16_format().is_nan(half.bits)) {
      ASSERT_TRUE(test::f16_format().is_nan(back.bits)) << bits;
    } else {
      ASSERT_EQ(back.bits, bits);
    }
  }
}

TEST(F16, RoundsToNearestEvenAtEveryDecision) {
  for (const float value : test::f16_format().decisions()) {
    ASSERT_EQ(stored<F16>(value).bits, test::f16_format().nearest(value)) << value;
  }
}

TEST(BF16, EveryPatternHasItsValueAndSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const BF16 half{static_cast<std::uint16_t>(bits)};
    const BF16 back = stored<BF16>(to_float(half));
    if (test::bf16_format().is_nan(half.bits)) {
      ASSERT_TRUE(std::isnan(to_float(half))) << bits;
      ASSERT_TRUE(test::bf16_format().is_nan(back.bits)) << bits;
    } else {
      ASSERT_EQ(to_float(half), test::bf16_format().value(half.bits)) << bits;
      ASSERT_EQ(back.bits, bits);
    }
  }
}

TEST(BF16, RoundsToNearestEvenAtEveryDecision) {
  for (const float value : test::bf16_format().decisions()) {
    if (std::isnan(value)) continue;
    ASSERT_EQ(stored<BF16>(value).bits, test::bf16_format().nearest(value)) << value;
  }
}

TEST(Halves, RoundRandomFloatsToNearestEven) {
  RandomStream random(1, 0, 0, Purpose::picture);
  for (int i = 0; i < 300000; ++i) {
    const float value = bits_to_float(random.next_u32());
    if (std::isnan(value)) {
      ASSERT_TRUE(test::f16_format().is_nan(stored<F16>(value).bits));
      ASSERT_TRUE(test::bf16_format().is_nan(stored<BF16>(value).bits));
    } else {
      ASSERT_EQ(stored<F16>(value).bits, test::f16_format().nearest(value)) << value;
      ASSERT_EQ(stored<BF16>(value).bits, test::bf16_format().nearest(value)) << value;
    }
  }
}

TEST(U8, TiesGoToEven) {
  for (int k = 0; k < 255; ++k) {
    const float tie = static_cast<float>(k) + 0.5f;
    ASSERT_EQ(stored<std::uint8_t>(tie), k % 2 == 0 ? k : k + 1) << tie;
    ASSERT_EQ(stored<std::uint8_t>(std::nextafter(tie, 0.0f)), k) << tie;
    ASSERT_EQ(stored<std::uint8_t>(std::nextafter(tie, 256.0f)), k + 1) << tie;
  }
}

TEST(U8, WholeNumbersAreKept) {
  for (int k = 0; k < 256; ++k) {
    const auto value = static_cast<std::uint8_t>(k);
    EXPECT_EQ(to_float(value), static_cast<float>(k));
    EXPECT_EQ(stored<std::uint8_t>(to_float(value)), k);
  }
}

TEST(U8, IsClampedAndNanIsZero) {
  EXPECT_EQ(stored<std::uint8_t>(-0.0f), 0);
  EXPECT_EQ(stored<std::uint8_t>(-1e-30f), 0);
  EXPECT_EQ(stored<std::uint8_t>(-300.0f), 0);
  EXPECT_EQ(stored<std::uint8_t>(255.5f), 255);
  EXPECT_EQ(stored<std::uint8_t>(1e30f), 255);
  EXPECT_EQ(stored<std::uint8_t>(kInfinity), 255);
  EXPECT_EQ(stored<std::uint8_t>(-kInfinity), 0);
  EXPECT_EQ(stored<std::uint8_t>(kNan), 0);
}

TEST(F32, IsKeptBitForBit) {
  for (const float value : {0.0f, -0.0f, 1e-45f, 3.0f, -kInfinity}) {
    EXPECT_EQ(float_to_bits(stored<float>(value)), float_to_bits(value));
    EXPECT_EQ(float_to_bits(to_float(value)), float_to_bits(value));
  }
}

// ---- mixing ----

TEST(Blend, WeighsBothImages) {
  EXPECT_EQ(blend({0.25f, 0.75f}, 8.0f, 4.0f), 5.0f);
  EXPECT_EQ(blend({1.5f, -0.5f}, 8.0f, 4.0f), 10.0f);
}

TEST(Blend, RoundsProductsAndSumSeparately) {
  // Fused, 3 * (1/3 rounded) + 2^-25 would keep the error of the product.
  const volatile float third = 1.0f / 3, own = 3.0f, tiny = 0x1p-25f;
  const float product = own * third;
  EXPECT_EQ(blend({third, 1.0f}, own, tiny), product + tiny);
}

TEST(Blend, LeavesOutAnImageOfWeightZero) {
  EXPECT_EQ(blend({1.0f, 0.0f}, 2.0f, kNan), 2.0f);
  EXPECT_EQ(blend({0.0f, 1.0f}, kInfinity, 2.0f), 2.0f);
  EXPECT_EQ(blend({1.0f, -0.0f}, 2.0f, kNan), 2.0f);
  EXPECT_TRUE(std::signbit(blend({1.0f, 0.0f}, -0.0f, 3.0f)));
}

TEST(Blend, PassesNanOnIfItHasWeight) {
  EXPECT_TRUE(std::isnan(blend({0.5f, 0.5f}, 2.0f, kNan)));
  EXPECT_TRUE(std::isnan(blend({1e-30f, 1.0f}, kNan, 2.0f)));
}

TEST(Apply, ScalesThenAdds) { EXPECT_EQ(apply({2.0f, -1.0f}, 3.0f), 5.0f); }

// ---- geometry ----

TEST(Reflect, MirrorsAtTheEdgePixels) {
  const std::vector<std::int32_t> expected = {3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1};
  for (std::int32_t i = -3; i < 8; ++i) {
    EXPECT_EQ(reflect(i, 4), expected[static_cast<std::size_t>(i + 3)]) << i;
  }
}

TEST(Reflect, StaysInsideHoweverFar) {
  for (const std::int32_t n : {1, 2, 3, 17}) {
    for (const std::int32_t i : {-1000001, -1000000, -2, -1, 0, 1, 1000000, 1000001}) {
      EXPECT_GE(reflect(i, n), 0);
      EXPECT_LT(reflect(i, n), n);
    }
  }
}

TEST(InInterval, MayWrap) {
  const auto members = [](std::int32_t begin, std::int32_t length, std::int32_t n) {
    std::vector<std::int32_t> inside;
    for (std::int32_t i = 0; i < n; ++i) {
      if (in_interval(i, begin, length, n)) inside.push_back(i);
    }
    return inside;
  };
  using Members = std::vector<std::int32_t>;
  EXPECT_EQ(members(1, 2, 5), (Members{1, 2}));
  EXPECT_EQ(members(3, 4, 5), (Members{0, 1, 3, 4}));
  EXPECT_EQ(members(2, 0, 5), (Members{}));
  EXPECT_EQ(members(4, 5, 5), (Members{0, 1, 2, 3, 4}));
}

TEST(BilinearTap, ReadsAroundThePixelCenter) {
  // 4 pixels shrunk to 2: centers at 0.5 and 2.5.
  EXPECT_EQ(bilinear_tap(0, 2, 4).first, 0);
  EXPECT_EQ(bilinear_tap(0, 2, 4).second, 1);
  EXPECT_EQ(bilinear_tap(0, 2, 4).fraction, 0.5f);
  EXPECT_EQ(bilinear_tap(1, 2, 4).first, 2);
  EXPECT_EQ(bilinear_tap(1, 2, 4).second, 3);
  EXPECT_EQ(bilinear_tap(1, 2, 4).fraction, 0.5f);
}

TEST(BilinearTap, OfFullLengthIsThePixelItself) {
  for (std::int32_t i = 0; i < 7; ++i) {
    EXPECT_EQ(bilinear_tap(i, 7, 7).first, i);
    EXPECT_EQ(bilinear_tap(i, 7, 7).fraction, 0.0f);
  }
}

TEST(Taps, StayInside) {
  for (std::int32_t n = 1; n < 40; ++n) {
    for (std::int32_t length = 1; length <= n; ++length) {
      for (std::int32_t i = 0; i < length; ++i) {
        for (const Tap tap : {bilinear_tap(i, length, n), nearest_tap(i, length, n)}) {
          ASSERT_GE(tap.first, 0);
          ASSERT_LE(tap.first, tap.second);
          ASSERT_LT(tap.second, n);
          ASSERT_GE(tap.fraction, 0.0f);
          ASSERT_LE(tap.fraction, 1.0f);
        }
      }
    }
  }
}

TEST(NearestTap, TakesThePixelUnderTheCenter) {
  EXPECT_EQ(nearest_tap(0, 2, 4).first, 1);
  EXPECT_EQ(nearest_tap(1, 2, 4).first, 3);
  EXPECT_EQ(nearest_tap(0, 1, 5).first, 2);
  EXPECT_EQ(nearest_tap(2, 3, 3).first, 2);
}

TEST(Interpolate, IsExactAtTheEnds) {
  EXPECT_EQ(interpolate(3.0f, kNan, 0.0f), 3.0f);
  EXPECT_EQ(interpolate(kNan, 5.0f, 1.0f), 5.0f);
  EXPECT_EQ(interpolate(2.0f, 4.0f, 0.25f), 2.5f);
}

}  // namespace
}  // namespace medley
