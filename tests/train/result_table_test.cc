#include "medley/train/result.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "medley/error.h"
#include "train/made_up_results.h"
#include "train/run_folder.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

RunResult with_accuracies(const std::vector<double>& values) {
  RunResult result = made_up_result("resnet8", "none", 1, 50);
  result.metrics.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result.metrics[i].score->test_top1 = values[i];
  return result;
}

std::vector<ResultFile> six_runs() {
  return {{"a", made_up_result("wrn28-2", "gmix", 1, 76.2)},
          {"b", made_up_result("preactresnet18", "hmix", 2, 79.4)},
          {"c", made_up_result("preactresnet18", "hmix", 1, 79.0)},
          {"d", made_up_result("preactresnet18", "none", 1, 75.9)},
          {"e", made_up_result("preactresnet18", "fmix", 1, 78.0)},
          {"f", made_up_result("resnet8", "none", 1, 60.0)}};
}

TEST(ResultNumbers, MedianIsThatOfTheLastTenEpochs) {
  EXPECT_EQ(median_of_last(with_accuracies({99, 99, 1, 2, 3, 4, 50, 60, 7, 8, 9, 10})), 7.5);
  EXPECT_EQ(median_of_last(with_accuracies({3, 1, 2})), 2);
  EXPECT_EQ(median_of_last(with_accuracies({3, 1, 2, 10})), 2.5);
  EXPECT_EQ(median_of_last(with_accuracies({5})), 5);
  EXPECT_EQ(median_of_last(with_accuracies({5, 6}), 1), 6);
}

TEST(ResultNumbers, SpreadIsMeanAndSampleDeviation) {
  const Spread three = spread_of(std::vector<double>{1, 2, 6});
  EXPECT_DOUBLE_EQ(three.mean, 3);
  EXPECT_DOUBLE_EQ(*three.deviation, std::sqrt(7.0));  // (4 + 1 + 9) / 2
  const Spread one = spread_of(std::vector<double>{5});
  EXPECT_EQ(one.mean, 5);
  EXPECT_FALSE(one.deviation);
  EXPECT_EQ(to_text(three), "3.00 ± 2.65");
  EXPECT_EQ(to_text(one), "5.00");
}

TEST(ResultNumbers, MeanAccuracyIsByEpoch) {
  const auto a = with_accuracies({1, 2}).metrics;
  const auto b = with_accuracies({3, 6}).metrics;
  using Point = EpochAccuracy;
  EXPECT_THAT(mean_accuracy({a, b}), ElementsAre(Point{1, 2}, Point{2, 4}));
  EXPECT_THAT(mean_accuracy({a, with_accuracies({3}).metrics}), ElementsAre(Point{1, 2}));
}

TEST(ResultNumbers, AreOfTheEpochsThatHaveAScore) {
  RunResult result = with_accuracies({1, 50, 3, 4});
  for (const int epoch : {0, 2}) result.metrics[epoch].score.reset();
  EXPECT_EQ(median_of_last(result), 27);
  EXPECT_EQ(median_of_last(result, 2), 4);
  using Point = EpochAccuracy;
  EXPECT_THAT(mean_accuracy({result.metrics, with_accuracies({5, 6, 7, 8}).metrics}),
              ElementsAre(Point{2, 28}, Point{4, 6}));
}

TEST(PaperTable, HasFiveModelsAndSixMethods) {
  EXPECT_EQ(paper_accuracy("preactresnet18", "none"), 76.73);
  EXPECT_EQ(paper_accuracy("preactresnet18", "gmix"), 79.17);
  EXPECT_EQ(paper_accuracy("wrn28-2", "stochastic"), 75.49);
  EXPECT_EQ(paper_accuracy("resnet56", "mixup"), 73.12);
  EXPECT_EQ(paper_accuracy("preactresnet34", "hmix"), 81.07);
  EXPECT_EQ(paper_accuracy("preactresnet50", "cutmix"), 81.23);
  EXPECT_FALSE(paper_accuracy("resnet8", "none"));
  EXPECT_FALSE(paper_accuracy("resnet56", "fmix"));
}

TEST(ResultTables, GroupByModelAndMethodInOrder) {
  const std::vector<ResultTable> tables = tabulate(six_runs());
  ASSERT_EQ(tables.size(), 3);
  EXPECT_EQ(tables[0].model, "wrn28-2");
  EXPECT_EQ(tables[1].model, "preactresnet18");
  EXPECT_EQ(tables[2].model, "resnet8");
  ASSERT_EQ(tables[1].rows.size(), 3);
  const ResultRow& hmix = tables[1].rows[1];
  EXPECT_EQ(hmix.method, "hmix");
  EXPECT_THAT(hmix.seeds, ElementsAre(1, 2));
  EXPECT_NEAR(hmix.median.mean, 79.2, 1e-9);
  EXPECT_NEAR(*hmix.median.deviation, 0.4 / std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(hmix.last.mean, 79.65, 1e-9);
  EXPECT_EQ(hmix.difference(), -0.05);
  EXPECT_FALSE(hmix.far_from_paper());
  EXPECT_EQ(hmix.curve.size(), 300);
  EXPECT_TRUE(tables[1].rows[0].far_from_paper());
  EXPECT_EQ(tables[1].rows[2].method, "fmix");
}

TEST(ResultTables, MarkFromMoreThanEightTenths) {
  ResultRow row{"none", {1}, {77.53, {}}, {77, {}}, 76.73};
  EXPECT_EQ(row.difference(), 0.8);
  EXPECT_FALSE(row.far_from_paper());
  row.median.mean = 77.54;
  EXPECT_TRUE(row.far_from_paper());
  row.median.mean = 75.92;
  EXPECT_TRUE(row.far_from_paper());
  row.median.mean = 76.729;
  EXPECT_FALSE(std::signbit(*row.difference()));
  row.paper.reset();
  EXPECT_FALSE(row.difference());
}

TEST(ResultTables, CompareOnlyWhatThePaperTrained) {
  const auto paper = [](const RunResult& r) { return tabulate({{"a", r}})[0].rows[0].paper; };
  const RunResult result = made_up_result("wrn28-2", "none", 1, 73);
  EXPECT_EQ(paper(result), 73.5);
  RunResult other = result;
  other.data.name = "cifar10";
  EXPECT_FALSE(paper(other));
  other = result;
  other.recipe.name = "cifar100-ce";
  EXPECT_FALSE(paper(other));
  other = result;
  other.recipe.epochs = 200;
  other.metrics.resize(200);
  EXPECT_FALSE(paper(other));
}

TEST(ResultTables, AreText) {
  EXPECT_EQ(to_text(tabulate(six_runs()), TableFormat::text),
            "wrn28-2 on cifar100\n"
            "method         seeds  median of last 10, %  last epoch, %  paper, %  difference\n"
            "gmix               1  76.20                 76.65          76.15     +0.05\n"
            "\n"
            "preactresnet18 on cifar100\n"
            "method         seeds  median of last 10, %  last epoch, %  paper, %  difference\n"
            "none               1  75.90                 76.35          76.73     -0.83 !\n"
            "hmix               2  79.20 ± 0.28          79.65 ± 0.28   79.25     -0.05\n"
            "fmix               1  78.00                 78.45          –         –\n"
            "! is more than 0.8 points from the paper.\n"
            "\n"
            "resnet8 on cifar100\n"
            "method         seeds  median of last 10, %  last epoch, %  paper, %  difference\n"
            "none               1  60.00                 60.45          –         –\n");
}

TEST(ResultTables, AreMarkdownAndCsv) {
  const std::vector<ResultTable> tables = tabulate(six_runs());
  EXPECT_EQ(to_markdown(tables[1]),
            "| method | seeds | median of last 10, % | last epoch, % | paper, % | difference |\n"
            "|---|---|---|---|---|---|\n"
            "| none | 1 | 75.90 | 76.35 | 76.73 | -0.83 ! |\n"
            "| hmix | 2 | 79.20 ± 0.28 | 79.65 ± 0.28 | 79.25 | -0.05 |\n"
            "| fmix | 1 | 78.00 | 78.45 | – | – |\n"
            "\n"
            "! is more than 0.8 points from the paper.\n");
  EXPECT_THAT(to_text(tables, TableFormat::markdown), HasSubstr("### resnet8\n\n| method |"));
  EXPECT_THAT(to_text(tables, TableFormat::csv),
              AllOf(HasSubstr("model,method,seeds,median_mean,median_std,"),
                    HasSubstr("\npreactresnet18,none,1,75.9000,,76.3500,,76.7300,-0.8300,true\n"),
                    HasSubstr("\npreactresnet18,fmix,1,78.0000,,78.4500,,,,false\n")));
}

TEST(ResultTables, AreJson) {
  const auto json = nlohmann::json::parse(to_json(tabulate(six_runs())));
  EXPECT_EQ(json["schema"], "medley.results/1");
  ASSERT_EQ(json["models"].size(), 3);
  const auto& none = json["models"][1]["methods"][0];
  EXPECT_EQ(none["seeds"], std::vector<int>{1});
  EXPECT_TRUE(none["median"]["std"].is_null());
  EXPECT_EQ(none["paper"], 76.73);
  EXPECT_EQ(none["difference"], -0.83);
  EXPECT_EQ(none["far"], true);
  EXPECT_TRUE(json["models"][2]["methods"][0]["paper"].is_null());
}

TEST(ResultTables, JoinSeedsOfOtherDraws) {
  RunResult older = made_up_result("wrn28-2", "gmix", 1, 73);
  older.recipe.draws = kFirstDrawsVersion;
  older.recipe.mix.method.set("form", Form::code);  // as recipes used to say
  const RunResult newer = made_up_result("wrn28-2", "gmix", 2, 74);
  EXPECT_EQ(tabulate({{"a.json", older}, {"b.json", newer}}).at(0).rows.at(0).seeds.size(), 2u);
}

TEST(ResultTables, RefuseWhatDoesNotBelongTogether) {
  const RunResult result = made_up_result("wrn28-2", "none", 1, 73);
  const auto refused = [&](const RunResult& other, const char* text) {
    EXPECT_THAT(
        [&] {
          (void)tabulate({{"a.json", result}, {"b.json", other}});
        },
        ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("a.json and b.json"), HasSubstr(text))));
  };
  refused(result, "same seed of wrn28-2 none");
  RunResult other = result;
  other.seed = 2;
  other.recipe.lr = 0.1;
  refused(other, "different recipes for wrn28-2 none (lr 0.2 and 0.1)");
  other.recipe = result.recipe;
  other.weights = "0123456789abcdef";
  refused(other, "start from different weights for wrn28-2 none");
  other = made_up_result("wrn28-2", "hmix", 1, 73);
  other.data.hash = "x";
  refused(other, "different data");
}

class ResultFolders : public testing::Test {
 protected:
  ResultFolders() : path_(fs::temp_directory_path() / ("medley-res-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~ResultFolders() override { fs::remove_all(path_); }

  [[nodiscard]] ResultFiles read(const fs::path& path) const {
    return read_results(std::vector<fs::path>{path_ / path});
  }

  fs::path path_;
};

TEST_F(ResultFolders, HoldFilesOrRuns) {
  fs::create_directories(path_ / "runs/a");
  fs::create_directories(path_ / "empty");
  write_result(path_ / "x.json", made_up_result("wrn28-2", "none", 1, 73));
  write_result(path_ / "runs/a/result.json", made_up_result("wrn28-2", "hmix", 1, 73));
  RunFolder unfinished(path_ / "runs/b", ExistingRun::resume);
  unfinished.start({{"recipe.json", "{}"}});
  EXPECT_EQ(read(".").results.size(), 1);
  EXPECT_EQ(read("x.json").results.size(), 1);
  EXPECT_EQ(read("runs/a").results.size(), 1);
  const ResultFiles runs = read("runs");
  EXPECT_EQ(runs.results.size(), 1);
  EXPECT_THAT(runs.unfinished, ElementsAre(path_ / "runs/b"));
  for (const char* folder : {"runs/b", "empty"}) {
    EXPECT_THAT([&] { (void)read(folder); },
                ThrowsMessage<IoError>(HasSubstr(" holds no result of a finished run")));
  }
  EXPECT_THROW((void)read("nothing"), IoError);
}

}  // namespace
}  // namespace medley::train
