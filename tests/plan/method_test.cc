#include "medley/method.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/medley.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Method, HasItsDefaultsUntilOptionsAreSet) {
  const Method hmix = "hmix";
  EXPECT_EQ(hmix.get("ratio"), OptionValue(0.5));
  EXPECT_EQ(hmix.get("gamma"), OptionValue());
  Method changed = hmix;
  changed.set("ratio", 0.75).set("placement", Placement::wrap).set("alpha", 2);
  EXPECT_EQ(changed.get("ratio"), OptionValue(0.75));
  EXPECT_EQ(changed.get("placement"), OptionValue("wrap"));
  EXPECT_EQ(changed.get("alpha"), OptionValue(2.0)) << "whole numbers are numbers";
  EXPECT_EQ(hmix.get("ratio"), OptionValue(0.5)) << "copies are independent";
  EXPECT_EQ(Method("hmix").get("ratio"), OptionValue(0.5)) << "and so are the defaults";
  EXPECT_EQ(Method("hmix", {{"ratio", 0.75}}).get("ratio"), OptionValue(0.75));
}

TEST(Method, RefusesWhatItCannotBe) {
  const auto message = [](const char* method, const char* option, const OptionValue& value) {
    try {
      static_cast<void>(Method(method).set(option, value));
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("hmix", "ratios", 1),
            "method hmix has no option \"ratios\"; did you mean \"ratio\"?");
  EXPECT_EQ(message("none", "ratio", 1), "method none has no options, got \"ratio\"");
  EXPECT_EQ(message("hmix", "ratio", 1.5), "ratio must be in [0, 1], got 1.5");
  EXPECT_EQ(message("hmix", "ratio", "half"), "ratio must be in [0, 1], got \"half\"");
  EXPECT_EQ(message("hmix", "ratio", {}), "ratio must be in [0, 1], got nothing");
  EXPECT_EQ(message("hmix", "ratio", true), "ratio must be in [0, 1], got true");
  EXPECT_EQ(message("hmix", "form", "exact"),
            "form must be code, paper or calibrated, got \"exact\"");
  EXPECT_EQ(message("nmixup", "n", 2.5), "n must be in [2, 1024], got 2.5");
  EXPECT_EQ(message("hmix", "gamma", {}), "") << "an optional one may have no value";
}

TEST(Method, SaysWhetherItHasAnOption) {
  Method mixup = "mixup";
  EXPECT_FALSE(mixup.set_if_used("ratio", 0.3));
  EXPECT_TRUE(mixup.set_if_used("lam", 0.3));
  EXPECT_EQ(mixup.get("lam"), OptionValue(0.3));
  EXPECT_EQ(mixup.sources(), 2);
  EXPECT_EQ(Method("none").sources(), 1);
  EXPECT_EQ(Method("nmixup", {{"n", 5}}).sources(), 5);
}

TEST(ParseOption, ReadsWhatCommandLinesHave) {
  const std::vector<OptionSpec>& hmix = get_method("hmix").options;
  EXPECT_EQ(parse_option(*find_option(hmix, "ratio"), "0.25"), OptionValue(0.25));
  EXPECT_EQ(parse_option(*find_option(hmix, "form"), "paper"), OptionValue(Form::paper));
  for (const char* text : {"", "0.5x", "nan", "1e400", " 1"}) {
    EXPECT_THROW(static_cast<void>(parse_option(*find_option(hmix, "ratio"), text)),
                 InvalidArgument)
        << text;
  }
  EXPECT_EQ(parse_option(*find_option(policy_options(), "no_self"), "true"), OptionValue(true));
}

/// A method outside the library, whose masks are parametric.
struct Frame {
  static constexpr std::string_view name = "test-frame";
  static constexpr std::string_view summary = "the partner in a box around the middle";

  double share = 0.25;

  static std::vector<OptionSpec> options() {
    return OptionTable<Frame>().add(&Frame::share, "share", "of the pixels",
                                    {.range = between(0, 1)});
  }
  MaskDraw draw(const UnitRandom& /*random*/, ImageSize size) const {
    return {share, BoxMask{0, 0, size.height / 2, size.width, 0, 1}};
  }
};

/// Another, whose masks are grids of two values.
struct Halves {
  static constexpr std::string_view name = "test-halves";
  static constexpr std::string_view summary = "weights of their own for the upper and lower half";

  static std::vector<OptionSpec> options() { return {}; }

  class Masks final : public MaskSampler {
   public:
    MaskDraw draw(const UnitRandom& /*random*/, std::span<float> field,
                  std::span<double> /*weights*/) const override {
      field[0] = 0.25f;
      field[1] = 1.0f;
      return {0.5, GridMask{0, 2, 1, GridInterpolation::constant}, 0.625};
    }
    bool makes_field() const override { return true; }
  };
  std::unique_ptr<MaskSampler> bind(ImageSize /*size*/, LabelRule /*label*/) const {
    return std::make_unique<Masks>();
  }
};

TEST(RegisterMethod, MakesAMethodLikeTheLibrarys) {
  register_method<Frame>();
  EXPECT_THAT([] { register_method<Frame>(); },
              ThrowsMessage<InvalidArgument>(HasSubstr("is called \"test-frame\" already")));
  EXPECT_EQ(get_method("test-frame").summary, Frame::summary);
  const MixPolicy policy{.method = {"test-frame", {{"share", 0.5}}}};
  ASSERT_NE(policy.method.as<Frame>(), nullptr);
  EXPECT_EQ(policy.method.as<Frame>()->share, 0.5);
  EXPECT_EQ(policy.method.as<Halves>(), nullptr);
  const MixPlan plan = test::draw_samples(policy, {8, 4}, 1, 3);
  EXPECT_EQ(plan.method, "test-frame");
  EXPECT_EQ(plan.entries[0].lam, 0.5);
  EXPECT_EQ(plan.entries[0].label_weight, 0.5) << "the mean of the mask, which it did not say";
  EXPECT_EQ(plan_from_json(to_json(plan)), plan);
}

TEST(RegisterMethod, ChecksStructsThatAreGiven) {
  EXPECT_THAT([] { static_cast<void>(Method(Frame{.share = 2})); },
              ThrowsMessage<InvalidArgument>("share must be in [0, 1], got 2"));
}

TEST(RegisterMethod, TakesGrids) {
  const MixPlan plan = test::draw_samples({.method = Halves{}}, {4, 2}, 1, 2);
  EXPECT_EQ(test::values_of(plan, plan.entries[1]),
            (std::vector<double>{0.25, 0.25, 0.25, 0.25, 1, 1, 1, 1}));
  EXPECT_EQ(plan.entries[1].label_weight, 0.625);
}

}  // namespace
}  // namespace medley
