#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/medley.h"
#include "plan/plans.h"

namespace medley {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Registry, HasEveryMethod) {
  EXPECT_THAT(test::method_names(),
              ElementsAre("none", "mixup", "cutmix", "stochastic", "hmix", "gmix", "bernoulli",
                          "nmixup", "fmix", "resizemix", "gaussian-field", "custom"));
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
    for (const OptionInfo& option : info->options) {
      EXPECT_TRUE(names.insert(option.name).second) << info->name << ": " << option.name;
    }
  }
}

TEST(Registry, GivesTheDefaultAlphaOfThePublications) {
  for (const MethodInfo* info : methods()) {
    EXPECT_EQ(info->default_alpha, info->name == "gmix" ? 0.5 : 1.0) << info->name;
    for (const OptionInfo& option : info->options) {
      if (option.name == "alpha") {
        EXPECT_EQ(std::stod(std::string(option.default_value)), info->default_alpha) << info->name;
      }
    }
  }
}

TEST(Registry, GivesTheFormOfTheMethodUnlessOneIsGiven) {
  EXPECT_EQ(form_of({.method = "hmix"}), Form::code);
  EXPECT_EQ(form_of({.method = "gmix"}), Form::code);
  EXPECT_EQ(form_of({.method = "fmix"}), Form::paper);
  EXPECT_EQ(form_of({.method = "fmix", .form = Form::code}), Form::code);
  EXPECT_EQ(form_of({.method = "mixup"}), Form::code);
}

TEST(Registry, AllowsAnyLamForThreeMethods) {
  for (const MethodInfo* info : methods()) {
    const std::set<std::string_view> unbounded = {"mixup", "nmixup", "gaussian-field"};
    EXPECT_EQ(info->unbounded_lam, unbounded.contains(info->name)) << info->name;
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
