// Types and layouts through `mix`, on the reference and on every SIMD target.

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/halves.h"
#include "kernels/simd_target.h"
#include "medley/medley.h"
#include "support/batches.h"

namespace medley {
namespace {

/// "reference", or a SIMD target of the cpu backend.
class Conversion : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "reference") {
      options_.backend = Backend::reference;
    } else {
      options_.backend = Backend::cpu;
      set_simd_target(GetParam());
    }
  }
  void TearDown() override { set_simd_target(""); }

  /// Copies a batch of one image of one row to another type.
  template <typename To, typename From>
  std::vector<To> convert(const std::vector<From>& from) {
    constexpr std::int32_t kWidth = 16384;
    std::vector<To> to(from.size());
    for (std::size_t at = 0; at < from.size(); at += kWidth) {
      const auto width = static_cast<std::int32_t>(std::min<std::size_t>(kWidth, from.size() - at));
      const BatchShape shape{1, 1, 1, width};
      MixPlan plan;
      plan.size = shape.size();
      plan.entries.resize(1);
      const auto n = static_cast<std::size_t>(width);
      mix(plan, view_of(std::span<const From>(from).subspan(at, n), shape),
          mutable_view_of(std::span<To>(to).subspan(at, n), shape), options_);
    }
    return to;
  }

  MixOptions options_;
};

std::vector<std::string> places() {
  std::vector<std::string> names = {"reference"};
  for (const std::string_view target : simd_targets()) names.emplace_back(target);
  return names;
}

template <typename T>
std::vector<T> all_patterns() {
  std::vector<T> patterns;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    patterns.push_back({static_cast<std::uint16_t>(bits)});
  }
  return patterns;
}

template <typename T>
void expect_values(const std::vector<T>& halves, const std::vector<float>& floats,
                   const test::HalfFormat& format) {
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const double expected = format.value(halves[i].bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(floats[i])) << halves[i].bits;
    } else {
      ASSERT_EQ(floats[i], expected) << halves[i].bits;
      ASSERT_EQ(std::signbit(floats[i]), std::signbit(expected)) << halves[i].bits;
    }
  }
}

template <typename T>
void expect_rounded(const std::vector<float>& floats, const std::vector<T>& halves,
                    const test::HalfFormat& format) {
  for (std::size_t i = 0; i < floats.size(); ++i) {
    if (std::isnan(floats[i])) {
      ASSERT_TRUE(format.is_nan(halves[i].bits)) << i;
    } else {
      ASSERT_EQ(halves[i].bits, format.nearest(floats[i])) << floats[i];
    }
  }
}

TEST_P(Conversion, ReadsEveryF16) {
  const auto halves = all_patterns<F16>();
  expect_values(halves, convert<float>(halves), test::f16_format());
}

TEST_P(Conversion, ReadsEveryBF16) {
  const auto halves = all_patterns<BF16>();
  expect_values(halves, convert<float>(halves), test::bf16_format());
}

TEST_P(Conversion, RoundsToF16AtEveryDecision) {
  std::vector<float> floats = test::f16_format().decisions();
  floats.push_back(std::numeric_limits<float>::quiet_NaN());
  expect_rounded(floats, convert<F16>(floats), test::f16_format());
}

TEST_P(Conversion, RoundsToBF16AtEveryDecision) {
  std::vector<float> floats = test::bf16_format().decisions();
  floats.push_back(std::numeric_limits<float>::quiet_NaN());
  expect_rounded(floats, convert<BF16>(floats), test::bf16_format());
}

TEST_P(Conversion, RoundsToU8WithTiesToEven) {
  std::vector<float> floats;
  for (int k = -3; k < 260; ++k) {
    const float tie = static_cast<float>(k) + 0.5f;
    for (const float v :
         {static_cast<float>(k), tie, std::nextafter(tie, -1e9f), std::nextafter(tie, 1e9f)}) {
      floats.push_back(v);
    }
  }
  for (const float v :
       {1e30f, -1e30f, std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    floats.push_back(v);
  }
  const auto bytes = convert<std::uint8_t>(floats);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    // In double, where adding a half is exact: floor(v + 1/2), less one at a tie that ends odd.
    const double v = std::isnan(floats[i]) ? 0 : std::min(255.0, std::max(0.0, double{floats[i]}));
    double expected = std::floor(v + 0.5);
    if (expected - v == 0.5 && std::fmod(expected, 2) != 0) --expected;
    ASSERT_EQ(bytes[i], expected) << floats[i];
  }
}

TEST_P(Conversion, KeepsEveryU8) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(convert<std::uint8_t>(convert<float>(bytes)), bytes);
  EXPECT_EQ(convert<std::uint8_t>(convert<F16>(bytes)), bytes);
  EXPECT_EQ(convert<std::uint8_t>(convert<BF16>(bytes)), bytes);
}

TEST_P(Conversion, MovesChannelsBetweenLayouts) {
  for (const std::int32_t channels : {1, 2, 3, 4, 7}) {
    for (const DType type : {DType::u8, DType::f16, DType::bf16, DType::f32}) {
      for (const Layout from : {Layout::nchw, Layout::nhwc}) {
        for (const Layout to : {Layout::nchw, Layout::nhwc}) {
          const BatchShape shape{2, channels, 3, 37};
          test::Batch in(type, from, shape, 2);
          in.fill_random(9, false);
          test::Batch out(type, to, shape, 3);
          MixPlan plan;
          plan.size = shape.size();
          plan.entries.resize(2);
          plan.entries[1].own.index = 1;
          mix(plan, in.view(), out.mutable_view(), options_);
          for (std::int64_t n = 0; n < 2; ++n) {
            for (std::int64_t c = 0; c < channels; ++c) {
              for (std::int64_t y = 0; y < 3; ++y) {
                for (std::int64_t x = 0; x < 37; ++x) {
                  ASSERT_EQ(out.at(n, c, y, x), in.at(n, c, y, x))
                      << channels << " channels, " << name_of(type) << " " << name_of(from)
                      << " to " << name_of(to);
                }
              }
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Conversion, testing::ValuesIn(places()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace medley
