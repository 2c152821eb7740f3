#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/medley.h"

namespace medley {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Two entries on 4x6, with a field and three terms.
MixPlan good_plan() {
  MixPlan plan;
  plan.size = {4, 6};
  plan.entries.resize(2);
  plan.fields.resize(24, 0.5f);
  plan.terms.resize(3);
  return plan;
}

TEST(Validate, TakesAGoodPlan) { EXPECT_NO_THROW(validate(good_plan())); }

TEST(Validate, TakesBoxesThatWrapOrAreEmptyAtTheEnd) {
  MixPlan plan = good_plan();
  plan.entries[0].mask = BoxMask{3, 5, 4, 6, 0, 1};
  plan.entries[1].mask = BoxMask{4, 6, 0, 0, 0, 1};
  EXPECT_NO_THROW(validate(plan));
}

struct Flaw {
  std::string name;
  std::function<void(MixPlan&)> change;
  std::string expectation;
  std::string fact;

  friend std::ostream& operator<<(std::ostream& out, const Flaw& flaw) { return out << flaw.name; }
};

class BrokenPlans : public testing::TestWithParam<Flaw> {};

TEST_P(BrokenPlans, AreRefusedWithPlaceExpectationAndFact) {
  MixPlan plan = good_plan();
  GetParam().change(plan);
  try {
    validate(plan);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().expectation));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().fact));
  }
}

Flaw mask_flaw(std::string name, const Mask& mask, std::string expectation, std::string fact) {
  return {std::move(name), [mask](MixPlan& p) { p.entries[1].mask = mask; },
          "entry 1 of the plan: " + expectation, std::move(fact)};
}

INSTANTIATE_TEST_SUITE_P(
    Flaws, BrokenPlans,
    testing::Values(
        Flaw{"NoPixels", [](MixPlan& p) { p.size.height = 0; }, "must be in [1, 32768]", "0x6"},
        Flaw{"HugeSide", [](MixPlan& p) { p.size.width = 40000; }, "[1, 32768]", "4x40000"},
        Flaw{"NegativeFirst", [](MixPlan& p) { p.first = -1; }, ">= 0", "-1 and 0"},
        Flaw{"NegativeBase", [](MixPlan& p) { p.base = -2; }, ">= 0", "0 and -2"},
        Flaw{"NegativeIndex", [](MixPlan& p) { p.entries[1].own.index = -1; },
             "entry 1 of the plan: a source index must be in [0,", "got -1"},
        Flaw{"FarShift", [](MixPlan& p) { p.entries[0].partner.dy = 1 << 21; },
             "entry 0 of the plan: dy must be in", "got 2097152"},
        Flaw{"LamNan", [](MixPlan& p) { p.entries[0].lam = kNan; }, "lam must be finite", "nan"},
        Flaw{"LabelInfinite", [](MixPlan& p) { p.entries[0].label_weight = kInfinity; },
             "label_weight must be finite", "inf"},
        mask_flaw("FlatNan", FlatMask{kNan}, "the mask value must be finite", "nan"),
        mask_flaw("BoxTop", BoxMask{5, 0, 1, 1, 0, 1}, "the box's top must be in [0, 4]", "got 5"),
        mask_flaw("BoxLeft", BoxMask{0, -1, 1, 1, 0, 1}, "the box's left must be in [0, 6]",
                  "got -1"),
        mask_flaw("BoxHeight", BoxMask{0, 0, 5, 1, 0, 1}, "the box's height must be in [0, 4]",
                  "got 5"),
        mask_flaw("BoxWidth", BoxMask{0, 0, 1, -7, 0, 1}, "the box's width must be in [0, 6]",
                  "got -7"),
        mask_flaw("BoxInside", BoxMask{0, 0, 1, 1, kNan, 1}, "the inside value must be finite",
                  "nan"),
        mask_flaw("BoxOutside", BoxMask{0, 0, 1, 1, 0, -kInfinity},
                  "the outside value must be finite", "-inf"),
        mask_flaw("CenterRow", GaussianMask{4, 0, 1, Peak::own}, "cy must be in [0, 3]", "got 4"),
        mask_flaw("CenterColumn", GaussianMask{0, -1, 1, Peak::own}, "cx must be in [0, 5]",
                  "got -1"),
        mask_flaw("TauZero", GaussianMask{0, 0, 0, Peak::own}, "tau must be > 0", "got 0"),
        mask_flaw("TauNan", GaussianMask{0, 0, kNan, Peak::own}, "tau must be finite", "nan"),
        mask_flaw("FieldTooFar", FieldMask{1}, "the field's offset must be in [0, 0]", "got 1"),
        mask_flaw("FieldNegative", FieldMask{-1}, "the field's offset must be in", "got -1"),
        mask_flaw("GridRows", GridMask{0, 5, 1}, "the grid's rows must be in [1, 4]", "got 5"),
        mask_flaw("GridColumns", GridMask{0, 1, 0}, "the grid's columns must be in [1, 6]",
                  "got 0"),
        mask_flaw("GridTooFar", GridMask{13, 3, 4}, "the grid's offset must be in [0, 12]",
                  "got 13"),
        Flaw{"GridInterpolation",
             [](MixPlan& p) {
               p.entries[1].mask = GridMask{0, 1, 1, static_cast<GridInterpolation>(2)};
             },
             "interpolation", "the number 2"},
        Flaw{"MaskOfATerm",
             [](MixPlan& p) {
               p.entries[0].term_count = 3;
               p.terms[1].mask = FieldMask{1};
             },
             "the field's offset must be in [0, 0]", "got 1"},
        Flaw{"NoSuchTiles", [](MixPlan& p) { p.entries[0].own.tiles = 0; },
             "a source's tiles must be in [-1, -1]", "got 0"},
        Flaw{"TilesOfSeveralSizes",
             [](MixPlan& p) {
               p.tile_maps = {{3, 1, {0, 1, 2}}};
             },
             "tile map 0 of the plan must cut outputs of 4x6 into tiles of one size",
             "got 3x1 tiles"},
        Flaw{"TooFewTiles",
             [](MixPlan& p) {
               p.tile_maps = {{2, 2, {0, 1, 2}}};
             },
             "tile map 0 of the plan must have 4 tiles for 2x2", "got 3"},
        Flaw{"TileOutside",
             [](MixPlan& p) {
               p.tile_maps = {{2, 1, {0, 2}}};
             },
             "tiles of tile map 0 of the plan must be in [0, 2)", "got 2"},
        Flaw{"ResampledTiles",
             [](MixPlan& p) {
               p.tile_maps = {{1, 1, {0}}};
               p.entries[0].mask = BoxMask{0, 0, 1, 1, 0, 1};
               p.entries[0].resample = Resample::nearest;
               p.entries[0].partner.tiles = 0;
             },
             "entry 0 of the plan", "tiles of a resampled partner cannot be moved"},
        Flaw{"ResampledFlat", [](MixPlan& p) { p.entries[0].resample = Resample::bilinear; },
             "entry 0 of the plan", "needs a box mask"},
        Flaw{"OneTerm", [](MixPlan& p) { p.entries[0].term_count = 1; },
             "number of sources must be in [2, 1024]", "got 1"},
        Flaw{"NegativeTerms", [](MixPlan& p) { p.entries[0].term_count = -2; },
             "number of sources must be in [2, 1024]", "got -2"},
        Flaw{"TermsTooFar",
             [](MixPlan& p) {
               p.entries[0].term_begin = 2;
               p.entries[0].term_count = 2;
             },
             "the first source must be in [0, 1]", "got 2"},
        Flaw{"WeightNan",
             [](MixPlan& p) {
               p.entries[0].term_count = 3;
               p.terms[2].weight = kNan;
             },
             "a weight must be finite", "nan"}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace medley
