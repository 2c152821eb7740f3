#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "medley/data/image.h"
#include "train/made_up_results.h"

namespace medley::cli_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Results : public CliTest {
 protected:
  /// A file in the folder "results".
  void add(const std::string& model, const std::string& method, std::uint64_t seed, double top1) {
    fs::create_directories(folder_ / "results");
    const std::string name = method + std::to_string(seed) + model + ".json";
    train::write_result(folder_ / "results" / name,
                        train::made_up_result(model, method, seed, top1));
  }
  /// The folder of a finished run.
  void add_run(const std::string& name, const train::RunResult& result) {
    fs::create_directories(folder_ / name);
    write_file(folder_ / name / "recipe.json", to_json(result.recipe));
    train::write_result(folder_ / name / "result.json", result);
  }
  [[nodiscard]] Outcome results(const Arguments& arguments) const {
    return medley(Arguments{"results"} + arguments, {.folder = folder_});
  }
};

TEST_F(Results, NeedATopic) {
  const Outcome outcome = results({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("medley results needs a topic: table, check, export, curves"));
}

TEST_F(Results, TablesTakeFilesAndFolders) {
  add("preactresnet18", "none", 1, 76.8);
  add("preactresnet18", "none", 2, 76.6);
  const Outcome folder = results({"table", "results"});
  ASSERT_EQ(folder.code, 0) << folder.err;
  EXPECT_THAT(folder.out, HasSubstr("none               2  76.70 ± 0.14 "));
  const std::string first = "results/none1preactresnet18.json";
  const std::string second = "results/none2preactresnet18.json";
  EXPECT_EQ(results({"table", first, second}).out, folder.out);
  EXPECT_THAT(results({"table", "results", "--format", "markdown"}).out,
              HasSubstr("| none | 2 | 76.70 ± 0.14 |"));
  EXPECT_THAT(results({"table", "results", "--format", "csv"}).out,
              HasSubstr("preactresnet18,none,2,76.7000,"));
  const auto json = results({"table", "results", "--json"}).json();
  EXPECT_EQ(json["schema"], "medley.results/1");
  EXPECT_EQ(json["models"][0]["methods"][0]["paper"], 76.73);
}

TEST_F(Results, TablesNoteWhatIsNotFinished) {
  add_run("runs/a", train::made_up_result("wrn28-2", "none", 1, 73.5));
  fs::create_directories(folder_ / "runs/b");
  write_file(folder_ / "runs/b/recipe.json", "{}");
  const Outcome outcome = results({"table", "runs"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("left out, not finished: runs/b"));
  EXPECT_THAT(results({"table", "runs", "-q"}).err, IsEmpty());
  // A result of another recipe is not that of the run.
  write_file(folder_ / "runs/b/recipe.json", to_json(train::find_recipe("cifar100-ce")));
  train::write_result(folder_ / "runs/b/result.json",
                      train::made_up_result("wrn28-2", "hmix", 1, 75.5));
  const Outcome other = results({"table", "runs"});
  EXPECT_THAT(other.err, HasSubstr("left out, not finished: runs/b"));
  EXPECT_THAT(other.out, Not(HasSubstr("hmix")));
}

TEST_F(Results, TablesNoteRunsOfTwoSchedules) {
  train::RunResult longer = train::made_up_result("wrn28-2", "none", 1, 73.5);
  longer.lengthened_from = 2;
  add_run("runs/a", longer);
  EXPECT_THAT(results({"table", "runs"}).err, HasSubstr("lengthened from 2 epochs"));
}

TEST_F(Results, TablesRefuseBrokenFiles) {
  add("wrn28-2", "none", 1, 73.5);
  write_file(folder_ / "results/x.json", "{\"schema\": \"medley.result/1\"}");
  const Outcome broken = results({"table", "results"});
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("results/x.json: recipe is missing"));
  EXPECT_EQ(results({"table", "nothing"}).code, 1);
  EXPECT_EQ(results({"table"}).code, 2);
}

TEST_F(Results, CheckComparesAndWritesDocuments) {
  add("preactresnet18", "hmix", 1, 79.2);
  const std::string frame = "# Page\n\n<!-- results: preactresnet18 -->\n";
  write_file(folder_ / "page.md", frame + "<!-- /results -->\n\nText.\n");
  const Arguments check = {"check", "page.md", "results"};

  const Outcome empty = results(check);
  EXPECT_EQ(empty.code, 3);
  EXPECT_THAT(empty.out, HasSubstr("page.md:4 differs"));
  EXPECT_THAT(empty.err, HasSubstr("--write"));
  EXPECT_THAT(read_file(path("page.md")), Not(HasSubstr("hmix")));

  EXPECT_EQ(results(check + Arguments{"--write"}).code, 0);
  const std::string written = read_file(path("page.md"));
  EXPECT_EQ(written, frame +
                         "\n| method | seeds | median of last 10, % | last epoch, % | paper, % | "
                         "difference |\n|---|---|---|---|---|---|\n"
                         "| hmix | 1 | 79.20 | 79.65 | 79.25 | -0.05 |\n\n"
                         "<!-- /results -->\n\nText.\n");
  EXPECT_EQ(results(check).code, 0);
  EXPECT_EQ(results(check + Arguments{"--write"}).code, 0);
  EXPECT_EQ(read_file(path("page.md")), written);

  // A number that was edited, then one that was measured anew.
  std::string edited = written;
  edited.replace(edited.find("79.20"), 5, "79.90");
  write_file(folder_ / "page.md", edited);
  const Outcome changed = results(check);
  EXPECT_EQ(changed.code, 3);
  EXPECT_THAT(changed.out,
              AllOf(HasSubstr("page.md:7 differs"), HasSubstr("has:  | hmix | 1 | 79.9"),
                    HasSubstr("want: | hmix | 1 | 79.2")));
  write_file(folder_ / "page.md", written);
  add("preactresnet18", "hmix", 2, 79.4);
  EXPECT_EQ(results(check).code, 3);
}

TEST_F(Results, CheckKeepsThePermissionsOfADocument) {
  add("preactresnet18", "hmix", 1, 79.2);
  write_file(folder_ / "page.md", "<!-- results: preactresnet18 -->\n<!-- /results -->\n");
  const fs::perms only_mine = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(folder_ / "page.md", only_mine);
  EXPECT_EQ(results({"check", "page.md", "results", "--write"}).code, 0);
  EXPECT_EQ(fs::status(folder_ / "page.md").permissions(), only_mine);
}

TEST_F(Results, CheckRefusesBrokenDocuments) {
  add("preactresnet18", "hmix", 1, 79.2);
  const std::string open = "<!-- results: preactresnet18 -->\n";
  write_file(folder_ / "page.md", open);
  const Outcome refused = results({"check", "page.md", "results", "--write"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("page.md:1: this table has no end"));
  EXPECT_EQ(read_file(path("page.md")), open);
  write_file(folder_ / "page.md", "nothing\n");
  EXPECT_THAT(results({"check", "page.md", "results"}).err, HasSubstr("has no table of preactres"));
  EXPECT_EQ(results({"check", "none.md", "results"}).code, 1);
  EXPECT_EQ(results({"check", "page.md"}).code, 2);
}

TEST_F(Results, ExportCollectsFinishedRuns) {
  add_run("a", train::made_up_result("wrn28-2", "none", 1, 73.5));
  add_run("b", train::made_up_result("wrn28-2", "hmix", 2, 75.5));
  const Outcome outcome = results({"export", "a", "b", "--out", "kept/cifar100"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "kept/cifar100/wrn28-2-none-seed1.json\nkept/cifar100/wrn28-2-hmix-seed2.json\n");
  EXPECT_THAT(names("kept/cifar100"),
              ElementsAre("wrn28-2-hmix-seed2.json", "wrn28-2-none-seed1.json"));
  EXPECT_EQ(read_file(path("kept/cifar100/wrn28-2-none-seed1.json")),
            read_file(path("a/result.json")));
  EXPECT_EQ(results({"export", "a", "--out", "kept/cifar100"}).code, 0);
}

TEST_F(Results, ExportFollowsNoLinksThatOthersPutThere) {
  add_run("a", train::made_up_result("wrn28-2", "none", 1, 73.5));
  write_file(folder_ / "victim", "mine");
  fs::create_directories(folder_ / "kept");
  fs::create_symlink(path("victim"), folder_ / "kept/wrn28-2-none-seed1.json.part");
  EXPECT_EQ(results({"export", "a", "--out", "kept"}).code, 0);
  EXPECT_EQ(read_file(path("victim")), "mine");
  EXPECT_EQ(read_file(path("kept/wrn28-2-none-seed1.json")), read_file(path("a/result.json")));
  EXPECT_FALSE(fs::is_symlink(folder_ / "kept/wrn28-2-none-seed1.json"));
}

TEST_F(Results, ExportRefusesWhatIsNotFinishedOrConflicts) {
  const train::RunResult result = train::made_up_result("wrn28-2", "none", 1, 73.5);
  add_run("a", result);
  add_run("same", result);
  add_run("other", train::made_up_result("wrn28-2", "none", 1, 74));
  add_run("longer", result);
  train::Recipe longer = result.recipe;
  longer.epochs = 400;
  write_file(folder_ / "longer/recipe.json", to_json(longer));
  add_run("unfinished", result);
  fs::remove(folder_ / "unfinished/result.json");
  fs::create_directories(folder_ / "empty");

  const auto refused = [&](const Arguments& runs, const char* text) {
    const Outcome outcome = results(Arguments{"export"} + runs + Arguments{"--out", "kept"});
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  };
  refused({"a", "unfinished"}, "unfinished is not finished: it has no result.json");
  refused({"longer"}, "longer is not finished: its recipe.json is not that of its result.json");
  refused({"empty"}, "empty is not the folder of a run");
  refused({"a", "same"}, "a and same are both wrn28-2-none-seed1.json");
  EXPECT_THAT(names(), Not(Contains("kept")));
  ASSERT_EQ(results({"export", "a", "--out", "kept"}).code, 0);
  refused({"other"}, "kept/wrn28-2-none-seed1.json holds another result than other");
  EXPECT_EQ(read_file(path("kept/wrn28-2-none-seed1.json")), read_file(path("a/result.json")));
}

TEST_F(Results, CurvesAreAPicture) {
  add("wrn28-2", "none", 1, 73.5);
  add("preactresnet18", "hmix", 1, 79.2);
  const Outcome outcome = results({"curves", "results", "--out", "curves.png"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(read_file(path("curves.png")), HasSubstr("PNG"));
  EXPECT_EQ(results({"curves", "results"}).code, 2);
}

TEST_F(Results, CurvesOfAMethodHaveOneColorInAllCharts) {
  add("wrn28-2", "none", 1, 73.5);
  add("wrn28-2", "hmix", 1, 75.5);
  add("preactresnet18", "hmix", 1, 79.2);
  ASSERT_EQ(results({"curves", "results", "--out", "curves.png"}).code, 0);
  const data::Image image = data::read_image(path("curves.png"));
  const auto has_gray = [&](int from, int to) {  // the color of the first method, in these columns
    for (int y = 0; y < image.size.height; ++y) {
      for (int x = from; x < to; ++x) {
        const std::size_t at = 3 * (static_cast<std::size_t>(y) * image.size.width + x);
        if (image.rgb[at] == 90 && image.rgb[at + 1] == 90 && image.rgb[at + 2] == 90) return true;
      }
    }
    return false;
  };
  EXPECT_NE(has_gray(0, image.size.width / 2), has_gray(image.size.width / 2, image.size.width));
}

TEST_F(Results, CurvesCanLeaveOutTheFirstEpochs) {
  add("wrn28-2", "none", 1, 73.5);
  const auto curves = [&](const char* from) {
    return results({"curves", "results", "--from", from, "--out", "late.png"});
  };
  ASSERT_EQ(results({"curves", "results", "--out", "all.png"}).code, 0);
  ASSERT_EQ(curves("1").code, 0);
  EXPECT_EQ(read_file(path("late.png")), read_file(path("all.png")));
  ASSERT_EQ(curves("8").code, 0);
  EXPECT_NE(read_file(path("late.png")), read_file(path("all.png")));
  EXPECT_EQ(curves("0").code, 2);
  EXPECT_THAT(curves("1000").err, HasSubstr("--from 1000 is beyond the last epoch of wrn28-2"));
}

TEST(Reproduction, PageShowsWhatTheResultsSay) {
  const fs::path source = MEDLEY_SOURCE_DIR;
  const fs::path folder = source / "results/cifar100";
  if (!fs::is_directory(folder) || fs::is_empty(folder)) {
    GTEST_SKIP() << "results/cifar100 holds no results";
  }
  const Outcome outcome =
      medley({"results", "check", "docs/reproduction.md", "results/cifar100"}, {.folder = source});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace medley::cli_test
