#include "medley/theory/design.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"
#include "medley/theory/coefficients.h"

namespace medley::theory {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr ImageSize kSize{8, 8};

TEST(Design, SaysByHowMuchAProfileIsImpossible) {
  // Box masks do not have mean 1/2 at every pixel, so their coefficients cannot be had with it.
  const MixPolicy cutmix{.method = {"cutmix", {{"lam", 0.5}, {"placement", Placement::inside}}}};
  const DesignTarget box{kSize, 0.5, coefficients(cutmix, kSize).matrix()};
  const Feasibility f = check_design(box);
  EXPECT_FALSE(f.feasible);
  EXPECT_NEAR(f.smallest, -9.2, 0.05);
  EXPECT_GE(f.distance, -f.smallest);
  const DesignTarget plane =
      target_of_profile(preset_profile("gmix-plane", 0.5, kSize), kSize, 0.5);
  EXPECT_NEAR(check_design(plane).smallest, -0.45, 0.005);
}

TEST(Design, ProjectsToTheNearestPossibleMatrix) {
  const DesignTarget wanted = target_of_profile(preset_profile("cutmix", 0.5, {5, 6}), {5, 6}, 0.5);
  const Feasibility before = check_design(wanted);
  ASSERT_FALSE(before.feasible);
  const DesignTarget got = nearest_feasible(wanted);
  EXPECT_TRUE(check_design(got).feasible);
  double distance = 0;
  for (std::size_t i = 0; i < got.matrix.size(); ++i) {
    distance += (got.matrix[i] - wanted.matrix[i]) * (got.matrix[i] - wanted.matrix[i]);
  }
  EXPECT_NEAR(std::sqrt(distance), before.distance, 1e-10);
  const DesignTarget again = nearest_feasible(got);
  for (std::size_t i = 0; i < got.matrix.size(); ++i) {
    EXPECT_NEAR(again.matrix[i], got.matrix[i], 1e-10);
  }
}

TEST(Design, SampledMasksHaveTheWantedMap) {
  const ImageSize size{4, 5};
  const DesignTarget target = target_of_profile(preset_profile("smooth", 0.8, size), size, 0.2);
  ASSERT_TRUE(check_design(target).feasible);
  MixPolicy policy{.method = "gaussian-field"};
  const std::vector<double> nu(20, target.mean);
  policy.method.set("design", std::make_shared<const GaussianDesign>(
                                  GaussianDesign::dense(size, target.matrix, nu)));
  const MonteCarloMoments m = monte_carlo(policy, size, {.draws = 20000, .seed = 2});
  const std::vector<double> map = map_of(target);
  for (std::size_t i = 0; i < map.size(); ++i) {
    EXPECT_NEAR(m.map[i].value, map[i], 6.5 * m.map[i].error);
    EXPECT_NEAR(m.means[i].value, 0.2, 6.5 * m.means[i].error);
  }
  // Clipping breaks the moments.
  const MonteCarloMoments clipped =
      monte_carlo(policy, size, {.draws = 20000, .seed = 2, .clip = true});
  EXPECT_GT(std::abs(clipped.map[0].value - map[0]), 6.5 * clipped.map[0].error);
}

TEST(Design, MapOfAProfileIsTheProfile) {
  const std::vector<double> profile = {0.5, 0.4, 0.3, 0.45, 0.35, 0.3};
  const std::vector<double> map = map_of(target_of_profile(profile, {2, 3}, 0.5));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(map[i], profile[i], 1e-15);
}

TEST(Design, RefusesWhatCannotWork) {
  EXPECT_THAT(
      [] {
        (void)target_of_profile(std::vector<double>(5), {2, 3}, 0.5);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("has 6 values, got 5")));
  EXPECT_THAT(
      [] {
        (void)target_of_profile(std::vector<double>(33 * 32), {33, 32}, 0.5);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("1 to 1024 pixels, got 33x32")));
  EXPECT_THAT(
      [] {
        (void)check_design(target_of_profile(std::vector{std::nan("")}, {1, 1}, 0.5));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
  EXPECT_THAT([] { (void)preset_profile("cutmx", 0.5, kSize); },
              ThrowsMessage<InvalidArgument>(HasSubstr("did you mean \"cutmix\"")));
}

}  // namespace
}  // namespace medley::theory
