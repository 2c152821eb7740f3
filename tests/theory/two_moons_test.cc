#include "medley/theory/two_moons.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "medley/error.h"

namespace medley::theory {
namespace {

using Json = nlohmann::json;

constexpr double kLoss = 1e-10;
constexpr double kGradient = 1e-9;

const Json& golden() {
  static const Json file = Json::parse(std::ifstream(MEDLEY_TEST_DATA "/two_moons.json"));
  return file;
}

PlaneModel model_of(const Json& list) { return {list[0], list[1], list[2]}; }

void expect_near(const PlaneModel& model, const Json& list, double tolerance) {
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(model[k], list[k].get<double>(), tolerance);
}

TEST(TwoMoons, HasTheGoldenPoints) {
  const TwoMoons raw("mixup", false);
  const Samples s = raw.samples();
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(s.x[2 * i + k], golden()["first_rows_raw"][i][k].get<double>(), 1e-13);
    }
  }
  EXPECT_NEAR(s.x[199], golden()["last_row_raw"][1].get<double>(), 1e-13);
}

TEST(TwoMoons, LossesAndGradientsAreGolden) {
  for (const Json& point : golden()["points"]) {
    for (const char* method : {"mixup", "bernoulli"}) {
      SCOPED_TRACE(point["data"].dump() + method + point["theta"].dump());
      const TwoMoons task(method, point["data"] == "centered");
      const PlaneModel model = model_of(point["theta"]);
      const Json& expected = point[method];
      PlaneModel gradient = {};
      EXPECT_NEAR(task.exact(model, &gradient), expected["exact"].get<double>(), kLoss);
      expect_near(gradient, expected["grad_exact"], kGradient);
      const LossTerms terms = task.approximate(model, &gradient);
      EXPECT_NEAR(terms.plain, expected["L_m"].get<double>(), kLoss);
      EXPECT_NEAR(terms.r1, expected["R1"].get<double>(), kLoss);
      EXPECT_NEAR(terms.r2, expected["R2"].get<double>(), kLoss);
      EXPECT_EQ(terms.r3, 0);
      EXPECT_NEAR(terms.approximate(), expected["approx"].get<double>(), kLoss);
      expect_near(gradient, expected["grad_approx"], kGradient);
    }
  }
}

TEST(TwoMoons, MinimizersAreGolden) {
  for (const char* method : {"mixup", "bernoulli"}) {
    const TwoMoons task(method);
    const Json& training = golden()["training"][method];
    const TrainingStep exact = minimize(task, Objective::exact);
    expect_near(exact.model, training["minimizer_exact"]["theta"], 1e-6);
    EXPECT_NEAR(exact.exact, training["minimizer_exact"]["exact_loss"].get<double>(), kLoss);
    const TrainingStep approximate = minimize(task, Objective::approximate);
    expect_near(approximate.model, training["minimizer_approx"]["theta"], 1e-6);
    EXPECT_NEAR(approximate.approximate, training["minimizer_approx"]["approx_loss"].get<double>(),
                kLoss);
    EXPECT_EQ(task.accuracy(exact.model), 0.86);
    EXPECT_EQ(task.accuracy(approximate.model), 0.86);
  }
}

TEST(TwoMoons, DescentFollowsTheGoldenTrace) {
  for (const char* method : {"mixup", "bernoulli"}) {
    const TwoMoons task(method);
    const Json& descent = golden()["training"][method]["gradient_descent"];
    for (const auto& [key, objective] :
         {std::pair("on_exact", Objective::exact), {"on_approx", Objective::approximate}}) {
      const auto trace = descend(task, objective, 20, 1, 1);
      for (const Json& step : descent[key]) {
        if (step["step"] > 20) continue;  // later steps repeat what these show
        const TrainingStep& at = trace[step["step"].get<std::size_t>()];
        expect_near(at.model, step["theta"], kGradient);
        const double trained = objective == Objective::exact ? at.exact : at.approximate;
        EXPECT_NEAR(trained, step["trained_loss"].get<double>(), 1e-9);
      }
    }
    const auto last = descend(task, Objective::approximate, 400, 1, 400).back();
    expect_near(last.model, descent["on_approx"].back()["theta"], 1e-8);
  }
}

TEST(TwoMoons, RefusesOtherMethods) {
  EXPECT_THAT([] { TwoMoons task("cutmix"); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("mixup or bernoulli")));
}

}  // namespace
}  // namespace medley::theory
