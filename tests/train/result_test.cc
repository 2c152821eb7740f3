#include "medley/train/result.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "medley/error.h"
#include "train/made_up_results.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

RunResult short_result() {
  RunResult result = made_up_result("preactresnet18", "hmix", 7, 79.2);
  result.recipe.epochs = 2;
  result.metrics.resize(2);
  return result;
}

void expect_equal(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(to_json(a.recipe), to_json(b.recipe));
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.gpu, b.gpu);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.weights_hash, b.weights_hash);
  EXPECT_EQ(a.lengthened_from, b.lengthened_from);
  EXPECT_EQ(a.versions, b.versions);
  EXPECT_EQ(a.metrics, b.metrics);
}

TEST(RunResults, ComeBackFromJson) {
  const RunResult result = made_up_result("wrn28-2", "gmix", 3, 76.1);
  expect_equal(result_from_json(to_json(result), "a"), result);

  RunResult on_cpu = short_result();
  on_cpu.seed = std::numeric_limits<std::uint64_t>::max();
  on_cpu.gpu.reset();
  on_cpu.versions.cuda.reset();
  on_cpu.weights_hash = "0123456789abcdef";
  on_cpu.lengthened_from = 1;
  on_cpu.metrics[0].score->ema_test_top1 = 12.5;
  on_cpu.metrics[1].score->test_top1 = 1.0 / 3;
  expect_equal(result_from_json(to_json(on_cpu), "a"), on_cpu);
}

TEST(RunResults, HaveTheDocumentedFields) {
  const Json json = Json::parse(to_json(short_result()));
  EXPECT_EQ(json["schema"], "medley.result/1");
  EXPECT_EQ(json["model"], "preactresnet18");
  EXPECT_EQ(json["method"], "hmix");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["recipe"]["loss"], "bce-softmax");
  EXPECT_EQ(json["data"]["name"], "cifar100");
  EXPECT_EQ(json["gpu"], "Some GPU");
  EXPECT_EQ(json["precision"], "bf16");
  EXPECT_EQ(json["versions"]["cuda"], "13.0");
  EXPECT_EQ(json["seconds"], 3.0);
  EXPECT_EQ(json["metrics"].size(), 2);
  EXPECT_FALSE(json["metrics"][0].contains("wall_time"));
}

TEST(RunResults, OlderOnesDoNotSayTheirPrecision) {
  RunResult older = short_result();
  older.precision.reset();
  EXPECT_FALSE(Json::parse(to_json(older)).contains("precision"));
  expect_equal(result_from_json(to_json(older), "a"), older);
}

TEST(RunResults, NameTheVersionOfTheirDraws) {
  Json json = Json::parse(to_json(short_result()));
  EXPECT_EQ(json["recipe"]["draws"], kDrawsVersion);
  json["recipe"].erase("draws");
  EXPECT_EQ(result_from_json(json.dump(), "a").recipe.draws, kFirstDrawsVersion);
}

TEST(RunResults, ComeBackFromFiles) {
  const fs::path file =
      fs::temp_directory_path() / ("medley-result-" + std::to_string(getpid()) + ".json");
  write_result(file, short_result());
  expect_equal(read_result(file), short_result());
  fs::remove(file);
  EXPECT_THROW((void)read_result(file), IoError);
}

TEST(RunResults, NeedJson) {
  for (const char* text : {"", "{", "nonsense", "{\"schema\": \"\xff\"}"}) {
    EXPECT_THAT([&] { (void)result_from_json(text, "x.json"); },
                ThrowsMessage<IoError>(HasSubstr("x.json is not JSON")));
  }
  EXPECT_THAT([] { (void)result_from_json(std::string(200'000, '['), "x.json"); },
              ThrowsMessage<IoError>(HasSubstr("within each other")));
  EXPECT_THAT([] { (void)result_from_json("[1]", "x.json"); },
              ThrowsMessage<IoError>(HasSubstr("x.json must be a JSON object")));
}

struct Broken {
  std::string name;
  std::function<void(Json&)> damage;
  std::string says;
};

class BrokenResult : public testing::TestWithParam<Broken> {};

TEST_P(BrokenResult, IsRefusedWithFileAndField) {
  Json json = Json::parse(to_json(short_result()));
  GetParam().damage(json);
  EXPECT_THAT([&] { (void)result_from_json(json.dump(), "x.json"); },
              ThrowsMessage<IoError>(AllOf(StartsWith("x.json: "), HasSubstr(GetParam().says))));
}

std::vector<Broken> broken_results() {
  std::vector<Broken> all = {
      {"OtherSchema", [](Json& j) { j["schema"] = "medley.result/2"; },
       "schema must be \"medley.result/1\", got \"medley.result/2\""},
      {"OtherModel", [](Json& j) { j["model"] = "resnet8"; }, "model must be that of the recipe"},
      {"OtherMethod", [](Json& j) { j["method"] = "mixup"; }, "method must be that of the recipe"},
      {"ModelWithPath", [](Json& j) { j["model"] = j["recipe"]["model"] = "../x"; },
       "model must be letters"},
      {"NegativeSeed", [](Json& j) { j["seed"] = -1; }, "seed must be a whole number from 0"},
      {"FractionalSeed", [](Json& j) { j["seed"] = 0.5; }, "seed must be a whole number"},
      {"RecipeIsText", [](Json& j) { j["recipe"] = "cifar100-paper"; },
       "recipe is not a JSON object"},
      {"RecipeField", [](Json& j) { j["recipe"]["lr"] = "fast"; }, "recipe: lr must be"},
      {"RecipeValue", [](Json& j) { j["recipe"]["lr"] = -1; }, "recipe: lr must be > 0"},
      {"RecipeMethod", [](Json& j) { j["recipe"]["method"] = "hmixx"; }, "hmix"},
      {"DataIsText", [](Json& j) { j["data"] = "cifar100"; }, "data must be an object"},
      {"NoImages", [](Json& j) { j["data"]["train"] = 0; }, "data.train must be a whole number"},
      {"NoHash", [](Json& j) { j["data"].erase("hash"); }, "data.hash is missing"},
      {"GpuIsNumber", [](Json& j) { j["gpu"] = 200; }, "gpu must be text or null, got 200"},
      {"PrecisionIsNumber", [](Json& j) { j["precision"] = 16; }, "precision must be text, got 16"},
      {"LengthenedFromAll", [](Json& j) { j["lengthened_from"] = 2; }, "less than the epochs"},
      {"NoVersion", [](Json& j) { j["versions"].erase("libtorch"); }, "versions.libtorch is miss"},
      {"MoreVersions", [](Json& j) { j["versions"]["nccl"] = "2"; }, "no field \"versions.nccl\""},
      {"WrongSeconds", [](Json& j) { j["seconds"] = 4; }, "seconds must be 3, the sum"},
      {"MetricsAreNone", [](Json& j) { j["metrics"] = 3; }, "metrics must be a list"},
      {"MissingEpoch", [](Json& j) { j["metrics"].erase(1); },
       "metrics must have the 2 epochs of the recipe, got 1"},
      {"EpochIsText", [](Json& j) { j["metrics"][1] = "2"; }, "metrics[1] must be an object"},
      {"EpochTwice", [](Json& j) { j["metrics"][1]["epoch"] = 1; },
       "metrics[1].epoch must be 2, got 1"},
      {"MoreThanAll", [](Json& j) { j["metrics"][1]["test_top1"] = 100.5; },
       "metrics[1].test_top1 must be a number from 0 to 100, got 100.5"},
      {"LossIsNull", [](Json& j) { j["metrics"][0]["train_loss"] = nullptr; },
       "metrics[0].train_loss must be a number, got null"},
      {"NegativeTime", [](Json& j) { j["metrics"][0]["seconds"] = -1; },
       "metrics[0].seconds must be a number from 0"},
      {"BrokenAverage", [](Json& j) { j["metrics"][0]["ema_test_top1"] = "12"; },
       "metrics[0].ema_test_top1 must be"},
      {"MoreMetrics", [](Json& j) { j["metrics"][0]["top1"] = 12; },
       "no field \"metrics[0].top1\""},
      {"MoreFields", [](Json& j) { j["tensors"] = "abc"; }, "no field \"tensors\""},
  };
  for (const char* field : {"schema", "model", "method", "seed", "recipe", "data", "gpu",
                            "versions", "seconds", "metrics"}) {
    all.push_back({std::string("Without_") + field, [field](Json& j) { j.erase(field); },
                   std::string(field) + " is missing"});
  }
  for (const char* field : {"epoch", "lr", "train_loss", "test_top1", "test_top5",
                            "clean_train_top1", "seconds", "images_per_s"}) {
    all.push_back({std::string("WithoutMetric_") + field,
                   [field](Json& j) { j["metrics"][1].erase(field); },
                   std::string("metrics[1].") + field + " is missing"});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, BrokenResult, testing::ValuesIn(broken_results()),
                         [](const auto& broken) { return broken.param.name; });

}  // namespace
}  // namespace medley::train
