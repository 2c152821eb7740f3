#include "medley/theory/loss.h"

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include "medley/error.h"

namespace medley::theory {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// f = V tanh(W x + c), the network of the golden file: 2 channels of 3x3, 3 classes.
class Network final : public Model {
 public:
  explicit Network(bool differentiable) : differentiable_(differentiable) {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 18; ++b) w_(a, b) = 0.6 * std::cos(0.9 * (a + 1) + 1.7 * (b + 1));
      c_(a) = 0.1 * (a - 1.5);
    }
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 4; ++b) v_(a, b) = 1.1 * std::sin(2.1 * (a + 1) + 0.8 * (b + 1));
    }
  }
  std::int64_t inputs() const override { return 18; }
  std::int64_t classes() const override { return 3; }
  void value(std::span<const double> x, std::span<double> scores) const override {
    const Vector t = (w_ * of(x) + c_).array().tanh();
    Eigen::Map<Vector>(scores.data(), 3) = v_ * t;
  }
  void jvp(std::span<const double> x, std::span<const double> u,
           std::span<double> scores) const override {
    if (!differentiable_) return Model::jvp(x, u, scores);
    const Vector t = (w_ * of(x) + c_).array().tanh();
    const Vector s = (1 - t.array().square()) * (w_ * of(u)).array();
    Eigen::Map<Vector>(scores.data(), 3) = v_ * s;
  }
  void hvp(std::span<const double> x, std::span<const double> u,
           std::span<double> scores) const override {
    if (!differentiable_) return Model::hvp(x, u, scores);
    const Vector t = (w_ * of(x) + c_).array().tanh();
    const Vector s = -2 * t.array() * (1 - t.array().square()) * (w_ * of(u)).array().square();
    Eigen::Map<Vector>(scores.data(), 3) = v_ * s;
  }

 private:
  static Eigen::Map<const Vector> of(std::span<const double> x) {
    return {x.data(), std::ssize(x)};
  }
  bool differentiable_;
  Matrix w_{4, 18}, v_{3, 4};
  Vector c_{4};
};

struct Golden {
  Json file = Json::parse(std::ifstream(MEDLEY_TEST_DATA "/multiclass.json"));
  std::vector<double> x;
  std::vector<double> labels;
  MixPolicy policy{.method = {"cutmix", {{"alpha", 1}, {"placement", Placement::inside}}},
                   .label = LabelRule::drawn};
  std::vector<WeightedMask> masks = for_channels(enumerate_masks(policy, {3, 3}), 2);

  Golden() {
    for (int a = 0; a < 5; ++a) {
      for (int b = 0; b < 18; ++b) x.push_back(std::sin(1.3 * (a + 1) * (b + 1) + 0.2 * b));
    }
    for (const int label : {0, 1, 2, 1, 0}) {
      for (int c = 0; c < 3; ++c) labels.push_back(c == label ? 1 : 0);
    }
  }
  [[nodiscard]] Samples samples() const { return {x, 5, 18}; }
};

TEST(Model, ReproducesTheGoldenNetwork) {
  const Golden golden;
  const Network model(true);
  const LossTerms terms = approximate_loss(model, golden.samples(), golden.labels, golden.masks);
  EXPECT_NEAR(terms.plain, golden.file["L_m"].get<double>(), 1e-10);
  EXPECT_NEAR(terms.r1, golden.file["R1"].get<double>(), 1e-10);
  EXPECT_NEAR(terms.r2, golden.file["R2"].get<double>(), 1e-10);
  EXPECT_NEAR(terms.r3, golden.file["R3"].get<double>(), 1e-10);
  EXPECT_NEAR(terms.approximate(), golden.file["approx"].get<double>(), 1e-10);
  EXPECT_NEAR(exact_loss(model, golden.samples(), golden.labels, golden.masks),
              golden.file["exact_msda_loss"].get<double>(), 1e-10);
}

TEST(Model, CoefficientsOfTheGoldenNetwork) {
  const Golden golden;
  const MaskMoments m = effective_coefficients(golden.policy, {3, 3});
  const std::vector<double> a = m.matrix();
  const std::vector<double> nu = m.means();
  for (std::size_t j = 0; j < 9; ++j) {
    EXPECT_NEAR(nu[j], golden.file["nu_pixels"][j].get<double>(), 1e-12);
    for (std::size_t k = 0; k < 9; ++k) {
      EXPECT_NEAR(a[j * 9 + k], golden.file["a_tilde_pixels"][j][k].get<double>(), 1e-12);
    }
  }
}

TEST(Model, NeedsOnlyValues) {
  const Golden golden;
  const LossTerms terms =
      approximate_loss(Network(false), golden.samples(), golden.labels, golden.masks);
  EXPECT_NEAR(terms.r1, golden.file["R1"].get<double>(), 1e-8);
  EXPECT_NEAR(terms.r2, golden.file["R2"].get<double>(), 1e-8);
  EXPECT_NEAR(terms.r3, golden.file["R3"].get<double>(), 1e-4);
}

TEST(Model, IsEstimatedFromDrawnMasks) {
  const Golden golden;
  const LossEstimate e = estimate_loss(Network(true), golden.samples(), golden.labels,
                                       golden.policy, {3, 3}, 40000, 3);
  constexpr double kErrors = 5;
  EXPECT_NEAR(e.terms.plain, golden.file["L_m"].get<double>(), 1e-12);
  EXPECT_NEAR(e.terms.r1, golden.file["R1"].get<double>(), kErrors * e.errors.r1);
  EXPECT_NEAR(e.terms.r2, golden.file["R2"].get<double>(), kErrors * e.errors.r2);
  EXPECT_NEAR(e.terms.r3, golden.file["R3"].get<double>(), kErrors * e.errors.r3);
  EXPECT_LT(e.errors.r2, 0.01);
}

TEST(Model, TakesMasksOfAllCoordinates) {
  const Golden golden;
  const Network model(true);
  for (const std::size_t weights : {0u, 9u}) {
    const std::vector<WeightedMask> masks = {{1, std::vector<double>(weights, 0.5), 0.5}};
    const std::string text = "masks must have 18 weights, got " + std::to_string(weights);
    EXPECT_THAT([&] { (void)exact_loss(model, golden.samples(), golden.labels, masks); },
                ThrowsMessage<InvalidArgument>(HasSubstr(text)));
    EXPECT_THAT([&] { (void)approximate_loss(model, golden.samples(), golden.labels, masks); },
                ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  }
}

TEST(Model, IsNotEstimatedFromWhatDoesNotFit) {
  const Golden golden;
  const auto message = [&](const char* method, ImageSize size, const char* text) {
    EXPECT_THAT(
        [&] {
          (void)estimate_loss(Network(true), golden.samples(), golden.labels, {.method = method},
                              size, 100, 0);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  };
  message("nmixup", {3, 3}, "no effective mask");
  message("cutmix", {0, 0}, "height and width must be");
  message("cutmix", {4, 3}, "not whole channels of 4x3");
}

}  // namespace
}  // namespace medley::theory
