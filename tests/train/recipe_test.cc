#include "medley/train/recipe.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "medley/error.h"
#include "medley/gaussian_design.h"

namespace medley::train {
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
  recipe.mix.method = {"gmix", {{"alpha", 0.25}}};
  recipe.crop_area = {0.25, 0.4};
  const Recipe back = recipe_from_json(to_json(recipe), "r");
  EXPECT_EQ(to_json(back), to_json(recipe));
  EXPECT_TRUE(differences(back, recipe).empty());
  EXPECT_EQ(back.mix.method.get("alpha"), OptionValue(0.25));
}

TEST(Recipes, ThePapersIsThePapers) {
  const Recipe r = find_recipe("cifar100-paper");
  EXPECT_EQ(r.loss, Loss::bce_softmax);
  EXPECT_EQ(r.batch, 100);
  EXPECT_EQ(r.mix.mode, Mode::batch);
  EXPECT_NEAR(255 * r.mean[0], 129.3, 1e-9);
  EXPECT_NEAR(255 * r.std[2], 70.4, 1e-9);
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
  constexpr Wrong kWrong[] = {
      {"lr", ".", "lr must be > 0, got \".\""},
      {"lr", "fast", "lr must be > 0, got \"fast\""},
      {"epochs", "1.5", "epochs must be in [1, "},
      {"epochs", "0", "epochs must be in [1, "},
      {"loss", "mse", "loss must be cross-entropy or bce-softmax, got \"mse\""},
      {"crop_area", "0.1,0.2,0.3", "crop_area must be one number or two, got 3"},
      {"std", "0.5,0", "std must be > 0, got 0"},
      {"ratio", "2", "ratio must be in [0, 1], got 2"},
      {"epoch", "1", "recipes have no field \"epoch\"; did you mean \"epochs\"?"},
      {"scale_mix", "1", "did you mean \"scale_min\"?"},
      {"method", "mixxup", "unknown method \"mixxup\"; did you mean \"mixup\"?"}};
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
  r.optimizer = Optimizer::adamw;
  r.beta2 = 1;
  EXPECT_THROW(check_recipe(r), InvalidArgument);
  r = {};
  r.crop_area = {0.5, 0.4};
  EXPECT_THROW(check_recipe(r), InvalidArgument);
  r = {};
  r.mix.pairing = Pairing::reverse;
  r.mix.classes = ClassRule::same;
  EXPECT_THROW(check_recipe(r), InvalidArgument);
  EXPECT_THROW((void)find_recipe("no-such-recipe"), InvalidArgument);
  EXPECT_THROW((void)recipe_from_json("{}", "r"), InvalidArgument);
  EXPECT_THAT(
      [] { (void)recipe_from_json(R"({"schema": "medley.recipe/1", "lr": "x"})", "my.json"); },
      testing::ThrowsMessage<InvalidArgument>("my.json: lr must be > 0, got \"x\""));
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

TEST(Recipes, HoldTheOptionsOfTheirMethodAlone) {
  Recipe recipe;
  choose_method(recipe, "gaussian-field");
  set_field(recipe, "sigma", "0.3");
  const auto json = nlohmann::json::parse(to_json(recipe));
  EXPECT_EQ(json["sigma"], 0.3);
  EXPECT_TRUE(json["design"].is_null());
  EXPECT_FALSE(json.contains("ratio"));
  for (const OptionSpec& option : get_method("gaussian-field").options) {
    EXPECT_TRUE(json.contains(option.name)) << option.name;
  }
  for (const OptionSpec& option : policy_options()) EXPECT_TRUE(json.contains(option.name));
}

TEST(Recipes, SayWhatTheirFieldsTake) {
  const OptionSpec* area = find_option(recipe_options(), "crop_area");
  ASSERT_NE(area, nullptr);
  EXPECT_EQ(area->default_text(), "[0.08, 1]");
  for (const OptionSpec& option : recipe_options()) EXPECT_FALSE(option.help.empty());
}

TEST(Recipes, GiveMethodsTheirValuesOnceChosen) {
  Recipe r = find_recipe("imagenet-paper");
  EXPECT_EQ(r.mix.method.get("ratio"), OptionValue(0.75));
  choose_method(r, "mixup");
  EXPECT_EQ(r.mix.method.get("alpha"), OptionValue(0.8));
  for (const MethodInfo* method : methods()) {
    if (method->name == "mixup" || !method->uses("alpha")) continue;
    choose_method(r, method->name);
    EXPECT_EQ(r.mix.method.get("alpha"), OptionValue(1.0)) << method->name;
  }
  // What is set is for all methods.
  set_field(r, "alpha", "0.3");
  for (const char* method : {"mixup", "gmix"}) {
    choose_method(r, method);
    EXPECT_EQ(r.mix.method.get("alpha"), OptionValue(0.3));
  }
  // The options of a method may be set before it is chosen.
  set_field(r, "sigma", "0.1");
  EXPECT_FALSE(r.mix.method.uses("sigma"));
  set_field(r, "method", "gaussian-field");
  EXPECT_EQ(r.mix.method.get("sigma"), OptionValue(0.1));
}

TEST(Recipes, RefuseValuesThatNoMethodTakes) {
  const auto refused = [](const std::string& fields, const char* text) {
    EXPECT_THAT(
        [&] { (void)recipe_from_json(R"({"schema": "medley.recipe/1", )" + fields + "}", "r"); },
        testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr(text)));
  };
  refused(R"("ratios": 0.5)", "recipes have no field \"ratios\"; did you mean \"ratio\"?");
  refused(R"("ratio": "much")", "ratio must be in [0, 1], got \"much\"");
  refused(R"("method": "hmix", "lam": 1.5)", "lam must be in [0, 1], got 1.5");
  refused(R"("methods": {"mixup": {"ratio": 0.5}})", "method mixup has no option \"ratio\"");
  refused(R"("methods": {"mixxup": {}})", "did you mean \"mixup\"?");
  refused(R"("methods": {"mixup": {"alpha": -1}})", "alpha must be > 0, got -1");
  refused(R"("methods": [])", "methods must be an object");
  refused(R"("lr": {"a": 1})", "lr must be > 0, got {\"a\":1}");
  refused(R"("optimiser": "sgd", "optimizer": "sgd")", "are one field");
  refused(R"("method": "custom", "masks": 3)", "masks must be the name of a file");
}

TEST(Recipes, OfOlderVersionsAreRead) {
  // As runs recorded them: every option of every method, null where it was the method's own.
  const std::string old = R"({"schema": "medley.recipe/1", "draws": 2, "name": "demo",
    "model": "resnet8", "epochs": 2, "batch": 100, "eval_every": 1, "optimiser": "adamw",
    "stddev": [0.2, 0.3, 0.4], "crop_area": 0.08, "method": "gmix", "mode": "sample",
    "pairing": "batch", "alpha": null, "beta": null, "lam": null, "prob": 1.0,
    "placement": "clipped", "form": null, "ratio": 0.5, "gamma": null, "q_mix": 0.5, "n": 3,
    "power": null, "decay": 3.0, "soft": 0.0, "scale_min": 0.1, "scale_max": 0.8,
    "label": "realised", "no_self": false})";
  const Recipe read = recorded_recipe(old, "r");
  EXPECT_EQ(read.optimizer, Optimizer::adamw);
  EXPECT_THAT(read.std, testing::ElementsAre(0.2, 0.3, 0.4));
  EXPECT_EQ(read.crop_area.most, 1);
  EXPECT_EQ(read.mix.method.get("alpha"), OptionValue(0.5));
  Recipe same;
  same.name = "demo";
  same.epochs = 2;
  same.optimizer = Optimizer::adamw;
  same.std = {0.2, 0.3, 0.4};
  same.mix = {.method = "gmix"};
  EXPECT_TRUE(differences(read, same).empty());
  EXPECT_EQ(recipe_from_json(to_json(read), "r").std, read.std);
  Recipe set;
  set_field(set, "optimiser", "adamw");
  set_field(set, "stddev", "0.5");
  set_field(set, "label", "realised");
  EXPECT_EQ(set.optimizer, Optimizer::adamw);
  EXPECT_THAT(set.std, testing::ElementsAre(0.5));
}

TEST(Recipes, DifferByWhatTrainsOtherwise) {
  Recipe a;
  choose_method(a, "hmix");
  Recipe b = a;
  b.draws = kFirstDrawsVersion;
  EXPECT_TRUE(differences(a, b).empty());
  choose_method(b, "mixup");
  std::vector<std::string> fields;
  for (const RecipeDifference& d : differences(a, b)) {
    fields.push_back(fmt::format("{} {} {}", d.field, d.a, d.b));
  }
  EXPECT_THAT(fields, testing::ElementsAre("method \"hmix\" \"mixup\""));
}

class RecipeFiles : public testing::Test {
 protected:
  RecipeFiles()
      : path_(std::filesystem::temp_directory_path() /
              ("medley-recipe-" + std::to_string(getpid()))) {
    write("black");
  }
  ~RecipeFiles() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }

  /// Masks that are made of the length of the text.
  static OptionValue read(const OptionSpec& option, const std::vector<std::string>& paths) {
    EXPECT_EQ(option.name, "masks");
    auto masks = std::make_shared<MaskSet>();
    masks->size = {1, 2};
    for (const std::string& path : paths) {
      const auto length = static_cast<float>(std::filesystem::file_size(path));
      masks->values.insert(masks->values.end(), {length, 0});
    }
    return {std::shared_ptr<const MaskSet>(masks)};
  }

  std::filesystem::path path_;
};

TEST_F(RecipeFiles, AreKnownByTheirContent) {
  Recipe recipe;
  set_field(recipe, "method", "custom");
  set_field(recipe, "masks", path_.string());
  EXPECT_THAT([&] { (void)policy_of(recipe); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("were not read")));
  read_files(recipe, read);
  EXPECT_NO_THROW(check_recipe(recipe));
  EXPECT_EQ(policy_of(recipe).method.sources(), 2);
  const auto json = nlohmann::json::parse(to_json(recipe));
  EXPECT_THAT(json["masks"]["files"], testing::ElementsAre(path_.string()));

  Recipe back = recipe_from_json(to_json(recipe), "r");
  EXPECT_NO_THROW(check_recipe(back));
  EXPECT_TRUE(differences(back, recipe).empty());
  EXPECT_THAT([&] { (void)policy_of(back); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("were not read")));
  read_files(back, read);
  EXPECT_NO_THROW((void)policy_of(back));
  choose_method(back, "mixup");
  choose_method(back, "custom");
  EXPECT_NO_THROW((void)policy_of(back));

  write("whiter");
  Recipe changed = recipe_from_json(to_json(recipe), "r");
  EXPECT_THAT([&] { read_files(changed, read); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("changed since")));
  Recipe other = recipe;
  set_field(other, "masks", path_.string());
  read_files(other, read);
  const std::vector<RecipeDifference> found = differences(recipe, other);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].field, "masks");
  EXPECT_THAT(found[0].a, testing::HasSubstr(recipe.files.at("masks").hash));
  EXPECT_THAT(found[0].b, testing::HasSubstr(other.files.at("masks").hash));
}

TEST_F(RecipeFiles, AreNotNeededForMasksInMemory) {
  const auto masks = [](float value) {
    return std::make_shared<const MaskSet>(MaskSet{{1, 2}, {value, 0}});
  };
  Recipe a;
  a.mix.method = {"custom", {{"masks", masks(1)}}};
  Recipe b = a;
  b.mix.method.set("masks", masks(1));
  EXPECT_TRUE(differences(a, b).empty());
  b.mix.method.set("masks", masks(0.5F));
  EXPECT_EQ(differences(a, b).size(), 1);
  Recipe fields;
  fields.mix.method = "gaussian-field";
  Recipe designed = fields;
  const auto design = [](double sigma) {
    return std::make_shared<const GaussianDesign>(GaussianDesign::smooth({8, 8}, sigma, 0.2, 0));
  };
  designed.mix.method.set("design", design(0.1));
  EXPECT_EQ(differences(fields, designed).size(), 1);
  Recipe wider = designed;
  wider.mix.method.set("design", design(0.2));
  EXPECT_EQ(differences(wider, designed).size(), 1);
  EXPECT_NO_THROW(check_recipe(wider));
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
}  // namespace medley::train
