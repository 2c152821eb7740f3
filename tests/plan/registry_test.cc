#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/medley.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::ThrowsMessage;

TEST(Registry, HasTheMethodsOfPlansAndRecipes) {
  // Those that published plans and recipes name; there may be others.
  EXPECT_THAT(test::method_names(),
              IsSupersetOf({"none", "mixup", "cutmix", "stochastic", "hmix", "gmix", "bernoulli",
                            "nmixup", "fmix", "resizemix", "gaussian-field", "custom"}));
}

TEST(Registry, DescribesEveryMethodInOneLine) {
  for (const MethodInfo* info : methods()) {
    EXPECT_FALSE(info->summary.empty()) << info->name;
    EXPECT_EQ(info->summary.find('\n'), std::string_view::npos) << info->name;
  }
}

TEST(Registry, ListsEachOptionOnce) {
  for (const MethodInfo* info : methods()) {
    std::set<std::string_view> names;
    for (const OptionSpec& option : info->options) {
      EXPECT_TRUE(names.insert(option.name).second) << info->name << ": " << option.name;
    }
  }
}

TEST(Registry, OptionsAreDescribedAndOverriddenByOthersOfTheMethod) {
  for (const MethodInfo* info : methods()) {
    for (const OptionSpec& option : info->options) {
      EXPECT_FALSE(option.help.empty()) << info->name << ": " << option.name;
      EXPECT_EQ(find_option(policy_options(), option.name), nullptr) << option.name;
      for (const std::string& other : option.rules.overridden_by) {
        EXPECT_TRUE(info->uses(other)) << info->name << ": " << option.name << ", " << other;
      }
    }
  }
}

TEST(Registry, GivesTheDefaultAlphaOfThePublications) {
  for (const MethodInfo* info : methods()) {
    if (!info->uses("alpha")) continue;
    EXPECT_EQ(Method(info->name).get("alpha"), OptionValue(info->name == "gmix" ? 0.5 : 1.0))
        << info->name;
  }
}

TEST(Registry, GivesTheFormOfTheMethodUnlessOneIsGiven) {
  EXPECT_EQ(Method("hmix").get("form"), OptionValue(Form::code));
  EXPECT_EQ(Method("gmix").get("form"), OptionValue(Form::code));
  EXPECT_EQ(Method("fmix").get("form"), OptionValue(Form::paper));
  EXPECT_EQ(Method("fmix", {{"form", Form::code}}).get("form"), OptionValue("code"));
}

TEST(Registry, AllowsAnyLamForThreeMethods) {
  for (const MethodInfo* info : methods()) {
    const std::set<std::string_view> unbounded = {"mixup", "nmixup", "gaussian-field"};
    EXPECT_EQ(info->unbounded_lam(), unbounded.contains(info->name)) << info->name;
  }
}

TEST(FindMethod, KnowsItsNames) {
  EXPECT_EQ(find_method("hmix")->name, "hmix");
  EXPECT_EQ(find_method("hmixx"), nullptr);
  EXPECT_EQ(find_method(""), nullptr);
}

TEST(GetMethod, SuggestsTheNearestName) {
  const auto suggestion = [](const char* name) {
    try {
      (void)get_method(name);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(suggestion("cutmx"), "unknown method \"cutmx\"; did you mean \"cutmix\"?");
  EXPECT_THAT(suggestion("Mixup"), HasSubstr("\"mixup\""));
  EXPECT_THAT(suggestion("h-mix"), HasSubstr("\"hmix\""));
  EXPECT_THAT(suggestion("gaussian_field"), HasSubstr("\"gaussian-field\""));
  EXPECT_THAT(suggestion("resize"), HasSubstr("\"resizemix\""));
  EXPECT_THAT(suggestion("CUTMIX"), HasSubstr("\"cutmix\""));
}

TEST(GetMethod, NamesAllWhereNoneIsNear) {
  for (const char* name : {"", "foo", "puzzlemix"}) {
    EXPECT_THAT([&] { (void)get_method(name); },
                ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("\"; methods are none, mixup, "),
                                                     HasSubstr(", custom"),
                                                     Not(HasSubstr("did you mean")))))
        << name;
  }
}

TEST(GetMethod, QuotesOnlyTheStartOfALongName) {
  EXPECT_THAT([] { (void)get_method(std::string(1000, 'x')); },
              ThrowsMessage<InvalidArgument>(testing::ResultOf(
                  [](const std::string& text) { return text.size(); }, testing::Lt(200u))));
}

}  // namespace
}  // namespace medley
