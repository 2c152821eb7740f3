#include "medley/train/recipe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"

namespace medley {
namespace {

TEST(Recipes, TheBuiltInOnesAreComplete) {
  for (const std::string_view name : recipe_names()) {
    const Recipe recipe = find_recipe(std::string(name));
    EXPECT_EQ(recipe.name, name);
    EXPECT_NO_THROW(check_recipe(recipe)) << name;
  }
}

TEST(Recipes, ComeBackFromJson) {
  Recipe recipe = find_recipe("cifar100-paper");
  recipe.mix.method = "gmix";
  recipe.mix.alpha = 0.5;
  const Recipe back = recipe_from_json(to_json(recipe), "r");
  EXPECT_EQ(to_json(back), to_json(recipe));
  EXPECT_EQ(back.mix.alpha, 0.5);
}

TEST(Recipes, ThePapersIsThePapers) {
  const Recipe r = find_recipe("cifar100-paper");
  EXPECT_EQ(r.loss, Loss::bce_softmax);
  EXPECT_EQ(r.batch, 100);
  EXPECT_EQ(r.mix.mode, Mode::batch);
  EXPECT_NEAR(255 * r.mean[0], 129.3, 1e-9);
  EXPECT_NEAR(255 * r.stddev[2], 70.4, 1e-9);
  constexpr std::int64_t kSteps = 500;
  EXPECT_DOUBLE_EQ(learning_rate(r, 0, kSteps), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(r, 100 * kSteps - 1, kSteps), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate(r, 100 * kSteps, kSteps), 0.2 * 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(r, 200 * kSteps, kSteps), 0.2 * 0.1 * 0.1);
}

TEST(Recipes, SchedulesStartAndEndWhereTheyShould) {
  Recipe r;
  r.epochs = 10;
  r.lr = 1;
  r.schedule = Schedule::cosine;
  r.warmup_epochs = 2;
  r.lr_final = 0.1;
  EXPECT_LT(learning_rate(r, 0, 100), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(r, 200, 100), 1);
  EXPECT_NEAR(learning_rate(r, 999, 100), 0.1, 1e-4);
  r.warmup_epochs = 0;
  r.schedule = Schedule::one_cycle;
  EXPECT_NEAR(learning_rate(r, 300, 100), 1, 1e-4);
  EXPECT_LT(learning_rate(r, 0, 100), 0.05);
}

TEST(Recipes, FieldsAreSetFromText) {
  Recipe r;
  set_field(r, "lr", "0.25");
  set_field(r, "milestones", ".5,0.75");
  set_field(r, "loss", "bce-softmax");
  set_field(r, "method", "hmix");
  set_field(r, "nesterov", "false");
  EXPECT_EQ(r.lr, 0.25);
  EXPECT_THAT(r.milestones, testing::ElementsAre(0.5, 0.75));
  EXPECT_EQ(r.loss, Loss::bce_softmax);
  EXPECT_EQ(r.mix.method, "hmix");
  EXPECT_FALSE(r.nesterov);
}

TEST(Recipes, TestPicturesFollowTheImageSizeUnlessTheySay) {
  EXPECT_EQ(usual_test_resize(224), Recipe().test_resize);
  EXPECT_EQ(usual_test_resize(32), 37);
  EXPECT_EQ(usual_test_resize(8), 9);
  const auto read = [](const char* fields) {
    return recipe_from_json(fmt::format(R"({{"schema": "medley.recipe/1"{}}})", fields), "r");
  };
  EXPECT_EQ(read("").test_resize, 256);
  EXPECT_EQ(read(R"(, "image_size": 32)").test_resize, 37);
  EXPECT_EQ(read(R"(, "test_resize": 40, "image_size": 32)").test_resize, 40);
}

TEST(Recipes, WrongFieldsAreRefusedWithExpectationAndFact) {
  struct Wrong {
    const char* field;
    const char* value;
    const char* reason;
  };
  constexpr Wrong kWrong[] = {{"lr", ".", "lr must be a finite number, got \".\""},
                              {"lr", "fast", "lr must be a finite number, got \"fast\""},
                              {"epochs", "1.5", "epochs must be a whole number"},
                              {"loss", "mse", "one of cross-entropy, bce-softmax"},
                              {"speed", "1", "no field \"speed\""}};
  for (const Wrong& wrong : kWrong) {
    Recipe r;
    try {
      set_field(r, wrong.field, wrong.value);
      ADD_FAILURE() << wrong.field;
    } catch (const InvalidArgument& problem) {
      EXPECT_THAT(problem.what(), testing::HasSubstr(wrong.reason));
    }
  }
  Recipe r;
  r.lr = -1;
  EXPECT_THROW(check_recipe(r), InvalidArgument);
  r = {};
  r.optimiser = Optimiser::adamw;
  r.beta2 = 1;
  EXPECT_THROW(check_recipe(r), InvalidArgument);
  r = {};
  r.mix.method = "mixxup";
  EXPECT_THROW(check_recipe(r), InvalidArgument);
  EXPECT_THROW((void)find_recipe("no-such-recipe"), InvalidArgument);
  EXPECT_THROW((void)recipe_from_json("{}", "r"), InvalidArgument);
  EXPECT_THAT(
      [] { (void)recipe_from_json(R"({"schema": "medley.recipe/1", "lr": "x"})", "my.json"); },
      testing::ThrowsMessage<InvalidArgument>("my.json: lr must be a finite number, got \"x\""));
}

TEST(Recipes, NameTheVersionOfTheirDraws) {
  const std::string bare = R"({"schema": "medley.recipe/1"})";
  EXPECT_EQ(recipe_from_json(bare, "r").draws, kDrawsVersion);
  EXPECT_EQ(recorded_recipe(bare, "r").draws, kFirstDrawsVersion);
  const std::string later = R"({"schema": "medley.recipe/1", "draws": 7})";
  EXPECT_EQ(recipe_from_json(later, "r").draws, 7);
  EXPECT_EQ(recorded_recipe(later, "r").draws, 7);
  EXPECT_EQ(recipe_from_json(to_json(Recipe()), "r").draws, kDrawsVersion);
  for (const char* wrong : {"0", "1.5", "\"2\"", "null", "9999999999"}) {
    const std::string text = fmt::format(R"({{"schema": "medley.recipe/1", "draws": {}}})", wrong);
    EXPECT_THAT([&] { (void)recipe_from_json(text, "r"); },
                testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("draws must be")));
  }
  Recipe recipe;
  EXPECT_THROW(set_field(recipe, "draws", "1"), InvalidArgument);  // no field to set
}

TEST(Recipes, KeepTheFormOfTheirMethod) {
  const Recipe recipe = recipe_from_json(to_json(Recipe()), "r");
  EXPECT_FALSE(recipe.mix.form);
  Recipe chosen;
  set_field(chosen, "form", "paper");
  EXPECT_EQ(recipe_from_json(to_json(chosen), "r").mix.form, Form::paper);
}

TEST(Recipes, HostileTextsAreRefused) {
  std::string twice = to_json(Recipe());
  twice.insert(1, "\"lr\": 1,");
  const std::string deep = R"({"schema":"medley.recipe/1","alpha":)" + std::string(50'000, '[');
  EXPECT_THAT([&] { (void)recipe_from_json(twice, "r.json"); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("\"lr\" is there twice")));
  EXPECT_THAT([&] { (void)recipe_from_json(deep, "r.json"); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("within each other")));
  EXPECT_THAT([&] { (void)recipe_from_json("{", "r.json"); },
              testing::ThrowsMessage<InvalidArgument>(
                  "r.json is not JSON: it ends early, in line 1, column 1"));
  Recipe r;
  EXPECT_THROW(set_field(r, "alpha", std::string(50'000, '[')), InvalidArgument);
}

}  // namespace
}  // namespace medley
