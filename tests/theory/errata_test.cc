#include "theory/errata/errata.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "medley/theory/loss.h"

namespace medley::theory {
namespace {

class Errata : public testing::TestWithParam<std::size_t> {
 protected:
  const Erratum& erratum_ = errata()[GetParam() - 1];
};

TEST_P(Errata, OnlyTheCorrectedStatementHolds) {
  if (erratum_.numbers == nullptr) GTEST_SKIP() << "wording or a table: nothing to compute";
  const std::vector<ErratumNumbers> numbers = erratum_.numbers();
  ASSERT_FALSE(numbers.empty());
  for (const ErratumNumbers& n : numbers) {
    EXPECT_FALSE(n.quantity.empty());
    EXPECT_TRUE(n.holds(n.corrected))
        << n.quantity << ": " << n.corrected << ", but in truth " << n.truth;
    EXPECT_EQ(n.holds(n.printed), erratum_.only_weaker)
        << n.quantity << ": " << n.printed << " beside " << n.truth;
    if (!erratum_.only_weaker) continue;
    EXPECT_NE(n.claim, Claim::equal);
    EXPECT_GT(std::abs(n.printed - n.truth), std::abs(n.corrected - n.truth)) << n.quantity;
  }
}

INSTANTIATE_TEST_SUITE_P(OfThePaper, Errata, testing::Range<std::size_t>(1, errata().size() + 1),
                         [](const auto& test) { return "N" + std::to_string(test.param); });

TEST(ErrataList, HasThePapersThirtyThree) {
  EXPECT_EQ(errata().size(), 33u);
  std::size_t wording = 0;
  for (const Erratum& erratum : errata()) {
    EXPECT_FALSE(erratum.place.empty());
    EXPECT_FALSE(erratum.printed.empty());
    EXPECT_FALSE(erratum.right.empty());
    wording += erratum.numbers == nullptr ? 1 : 0;
  }
  EXPECT_EQ(wording, 5u);
}

TEST(ErrataList, HasNumbersThatAreKnown) {
  struct Known {
    std::size_t number, measure;
    double printed, right;
    double tolerance = 5e-5;
  };
  const std::vector<Known> list = {
      {2, 0, 0.5, 0.0025},          {4, 0, 1.0 / 36, 0.0625},
      {5, 0, 0.8222, 0.68},         {6, 0, 0.51797, 0.5},
      {7, 0, 0.5, 0.467, 5e-4},     {8, 0, 0.5, 0.3003},
      {10, 0, 0.3003, 0.1768},      {10, 1, 0.3003, 0.5762},
      {11, 0, -9.247, 0, 5e-4},     {11, 1, 0.7, 0.3},
      {13, 0, 0.75, 0.25},          {16, 0, 2.540, 0.230, 5e-4},
      {17, 0, 3.735, 0.6898, 5e-4}, {18, 0, -1.0 / 3, 1.0 / 3},
      {23, 0, 0.00167, 0.1667},     {24, 0, 0.0566, 0.0693},
      {30, 0, 0.372799, 0.478458},  {30, 1, 0.452023, 0.623671},
      {31, 0, 0, 0.7408},
  };
  for (const Known& known : list) {
    const ErratumNumbers n = errata()[known.number - 1].numbers().at(known.measure);
    EXPECT_NEAR(n.printed, known.printed, known.tolerance) << known.number;
    EXPECT_NEAR(n.corrected, known.right, known.tolerance) << known.number;
  }
  EXPECT_NEAR(errata()[15].numbers()[0].truth, 0.276, 5e-4);
  EXPECT_NEAR(errata()[20].numbers()[0].printed, 1.272e-3, 5e-7);
  EXPECT_NEAR(errata()[20].numbers()[0].truth, 9.53e-4, 5e-7);
  EXPECT_NEAR(errata()[23].numbers()[0].truth, 0.0655, 1.5e-3);
}

/// Two points with scores +-slope under Mixup, and what the expansion leaves out of their loss.
struct Remainder {
  double left_out = 0;
  double share = 0;  ///< of the effect of mixing

  Remainder(double alpha, double slope) {
    const std::vector<double> x = {1, -1}, y = {1, 0};
    const MixPolicy policy{.method = {"mixup", {{"alpha", alpha}}}};
    const Glm model{Link::logistic, {slope}, 0};
    const LossTerms terms = approximate_loss(
        model, {x, 2, 1}, y, coordinate_moments(effective_coefficients(policy, {1, 1})));
    const double exact = exact_loss(model, {x, 2, 1}, y, enumerate_masks(policy, {1, 1}));
    left_out = exact - terms.approximate();
    share = left_out / (exact - terms.plain);
  }
};

TEST(Expansion, IsNotBetterForLightMixing) {
  EXPECT_NEAR(Remainder(1, 4).share, 0.7246, 5e-5);
  EXPECT_NEAR(Remainder(0.4, 4).share, 0.7332, 5e-5);
  EXPECT_NEAR(Remainder(0.1, 4).share, 0.7391, 5e-5);
  EXPECT_NEAR(Remainder(0.03, 4).share, 0.7408, 5e-5);
}

TEST(Expansion, HasARemainderOfFourthOrderInTheSlopes) {
  EXPECT_NEAR(Remainder(1, 0.1).left_out / Remainder(1, 0.05).left_out, 16, 0.1);
}

}  // namespace
}  // namespace medley::theory
