#include "medley/theory/loss.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <nlohmann/json.hpp>

#include "medley/error.h"
#include "medley/random.h"
#include "theory/grad_prod_loops.h"

namespace medley::theory {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<double> field(std::int64_t count, std::uint64_t seed, double power) {
  RandomStream random(seed, 0, 0, Purpose::picture);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const double z = random.normal();
    values.push_back(std::copysign(std::pow(std::abs(z), power), z));
  }
  return values;
}

TEST(PartialGradProd, ReproducesTheGoldenMap) {
  const Json file =
      Json::parse(std::ifstream(MEDLEY_TEST_DATA "/bounds.json"))["partial_grad_prod"];
  std::vector<double> gradient;
  for (const Json& row : file["gradient"]) {
    for (const Json& value : row) gradient.push_back(value);
  }
  const std::vector<double> map = partial_grad_prod(gradient, 1, {4, 5});
  for (const auto& [key, value] : file["map"].items()) {
    const std::size_t comma = key.find(',');
    const int dy = std::stoi(key.substr(0, comma));
    const int dx = std::stoi(key.substr(comma + 1));
    EXPECT_NEAR(map[static_cast<std::size_t>((dy + 3) * 9 + dx + 4)], value.get<double>(), 1e-9);
  }
}

TEST(PartialGradProd, EqualsFourLoopsOnEveryTarget) {
  GradProdOptions options;
  options.normalize = Normalize::none;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const ImageSize size : {ImageSize{1, 1}, {1, 17}, {9, 1}, {6, 7}, {20, 33}}) {
      // Even fields, heavy tails and zeros: little to skip, much, everything.
      for (const double power : {0.2, 1.0, 6.0}) {
        std::vector<double> gradient = field(size.pixels(), 3, power);
        if (power == 1.0) std::fill(gradient.begin(), gradient.begin() + size.pixels() / 2, 0.0);
        std::vector<double> magnitudes = gradient;
        for (double& value : magnitudes) value = std::abs(value);
        const std::vector<double> map = partial_grad_prod(gradient, 1, size, options);
        const std::vector<double> loops = partial_grad_prod_loops(magnitudes, size);
        ASSERT_EQ(map.size(), loops.size());
        for (std::size_t i = 0; i < map.size(); ++i) ASSERT_DOUBLE_EQ(map[i], loops[i]);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(PartialGradProd, IsTheSameInAnyUnit) {
  const std::vector<double> gradient = field(3 * 30, 2, 2);
  for (const Magnitude magnitude : {Magnitude::euclidean, Magnitude::absolute, Magnitude::each}) {
    const GradProdOptions options{magnitude, Normalize::gradient};
    const std::vector<double> expected = partial_grad_prod(gradient, 3, {5, 6}, options);
    for (const int exponent : {-900, -600, 600, 900}) {
      std::vector<double> scaled = gradient;
      for (double& value : scaled) value = std::ldexp(value, exponent);
      EXPECT_EQ(partial_grad_prod(scaled, 3, {5, 6}, options), expected) << exponent;
    }
  }
  const GradProdOptions plain{Magnitude::euclidean, Normalize::none};
  std::vector<double> eightfold = gradient;
  for (double& value : eightfold) value *= 8;
  std::vector<double> expected = partial_grad_prod(gradient, 3, {5, 6}, plain);
  for (double& product : expected) product *= 64;
  EXPECT_EQ(partial_grad_prod(eightfold, 3, {5, 6}, plain), expected);
}

TEST(PartialGradProd, CombinesChannels) {
  const std::vector<double> gradient = {3, 0, -4, 1};  // two channels of 1x2
  const auto peak = [&](Magnitude magnitude) {
    return partial_grad_prod(gradient, 2, {1, 2}, {magnitude, Normalize::none})[1];
  };
  EXPECT_DOUBLE_EQ(peak(Magnitude::euclidean), 25);
  EXPECT_DOUBLE_EQ(peak(Magnitude::absolute), 49);
  EXPECT_DOUBLE_EQ(peak(Magnitude::signed_sum), 1);
  EXPECT_DOUBLE_EQ(peak(Magnitude::each), 16);
  const auto normalized =
      partial_grad_prod(gradient, 2, {1, 2}, {Magnitude::absolute, Normalize::map});
  EXPECT_DOUBLE_EQ(normalized[0] + normalized[1] + normalized[2], 1);
  const std::vector<double> nothing(4);
  EXPECT_THAT(partial_grad_prod(nothing, 1, {2, 2}), testing::Each(0.0));
}

TEST(GradProdSummary, KeepsMaximumAndMean) {
  const ImageSize size{3, 4};
  GradProdSummary summary(size);
  const auto a = field(12, 5, 1);
  const auto b = field(12, 6, 1);
  summary.add(a, 1);
  summary.add(b, 1);
  const auto map_a = partial_grad_prod(a, 1, size);
  const auto map_b = partial_grad_prod(b, 1, size);
  const auto mean = summary.mean();
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_EQ(summary.maximum()[i], std::max(map_a[i], map_b[i]));
    EXPECT_DOUBLE_EQ(mean[i], (map_a[i] + map_b[i]) / 2);
  }
  EXPECT_EQ(summary.images(), 2);
}

TEST(PartialGradProd, RefusesWhatDoesNotFit) {
  const std::vector<double> four(4);
  EXPECT_THAT(
      [&] {
        (void)partial_grad_prod(four, 1, {2, 3});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("has 6 values, got 4")));
  const std::vector<double> bad = {std::nan("")};
  EXPECT_THAT(
      [&] {
        (void)partial_grad_prod(bad, 1, {1, 1});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
}

}  // namespace
}  // namespace medley::theory
