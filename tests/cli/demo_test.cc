#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "medley/data/dataset.h"
#include "medley/data/image.h"
#include "medley/policy.h"
#include "medley/train/result.h"
#include "train/made_up_results.h"

namespace medley::cli_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DemoVerb : public CliTest {
 protected:
  [[nodiscard]] Outcome demo(const Arguments& arguments) const {
    return medley(Arguments{"demo", "--tile", "16"} + arguments, {.folder = folder_});
  }
};

TEST_F(DemoVerb, WritesTheSheetAndAPicturePerMethod) {
  for (int turn = 0; turn < 2; ++turn) {  // again over its own files
    const Outcome outcome = demo({"--out", "build/demo"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("build/demo/contact_sheet.png"));
    EXPECT_THAT(outcome.out, HasSubstr("try: medley mix"));
  }
  EXPECT_THAT(names("build/demo"), ElementsAre("contact_sheet.png", "methods", "pictures"));
  EXPECT_EQ(medley({"mix", "build/demo/pictures/cat.png", "build/demo/pictures/flower.png",
                    "--method", "hmix", "-o", "mixed.png"},
                   {.folder = folder_})
                .code,
            0);
  EXPECT_EQ(names("build/demo/methods").size(), methods().size());
  for (const MethodInfo* method : methods()) {
    const auto name = "build/demo/methods/" + std::string(method->name) + ".png";
    EXPECT_GT(data::read_image(path(name)).size.pixels(), 0) << name;
  }
}

TEST_F(DemoVerb, PrintsOneObject) {
  const json report = demo({"--out", "d", "--json", "--seed", "3"}).json();
  EXPECT_EQ(report["schema"], "medley.demo/1");
  EXPECT_EQ(report["seed"], 3);
  EXPECT_EQ(report["contact_sheet"], "d/contact_sheet.png");
  EXPECT_EQ(report["methods"].size(), methods().size());
}

TEST_F(DemoVerb, TakesYourPictures) {
  write_picture(path("a.png"), 4, 20, 20);
  ASSERT_EQ(demo({"--out", "drawn"}).code, 0);
  ASSERT_EQ(demo({"a.png", "--out", "yours"}).code, 0);
  EXPECT_NE(read_file(path("drawn/methods/mixup.png")), read_file(path("yours/methods/mixup.png")));
}

TEST_F(DemoVerb, ShowsTheMiddleOfPicturesThatAreNotSquare) {
  const data::Image square = data::synthetic_image(1, 4, 0, {20, 20});
  data::Image wide{{20, 26}, {}};
  for (int row = 0; row < 20; ++row) {
    const auto first = square.rgb.begin() + std::ptrdiff_t{60} * row;
    wide.rgb.insert(wide.rgb.end(), 9, 0);
    wide.rgb.insert(wide.rgb.end(), first, first + 60);
    wide.rgb.insert(wide.rgb.end(), 9, 255);
  }
  data::write_png(path("square.png"), square);
  data::write_png(path("wide.png"), wide);
  ASSERT_EQ(demo({"square.png", "--out", "a"}).code, 0);
  ASSERT_EQ(demo({"wide.png", "--out", "b"}).code, 0);
  EXPECT_EQ(read_file(path("a/contact_sheet.png")), read_file(path("b/contact_sheet.png")));
}

TEST_F(DemoVerb, SaysWhichPicturesAreLeftOut) {
  write_picture(path("a.png"), 4, 20, 20);
  EXPECT_THAT(demo({"a.png", "a.png", "a.png", "a.png", "--out", "d"}).err,
              HasSubstr("note: the first 3 of 4 pictures are shown"));
  EXPECT_THAT(demo({"a.png", "a.png", "a.png", "--out", "d"}).err, Not(HasSubstr("note:")));
}

class DemoPageOption : public DemoVerb {
 protected:
  void add_run(const std::string& method, double top1) const {
    const std::filesystem::path run = folder_ / "d/runs" / (method + "-seed1");
    std::filesystem::create_directories(run);
    train::RunResult result = train::made_up_result("resnet8", method, 1, top1);
    result.data = {"fashion-mnist", 300, 2000, 10, "0123456789abcdef"};
    train::write_result(run / "result.json", result);
    write_picture(run / "batch.png", 0, 8, 8);
  }
  [[nodiscard]] std::string page() const {
    const Outcome outcome = demo({"--page", "--out", "d"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("d/index.html"));
    return read_file(path("d/index.html"));
  }
};

TEST_F(DemoPageOption, ShowsWhatIsInTheFolder) {
  ASSERT_EQ(demo({"--out", "d"}).code, 0);
  const std::string first = page();
  EXPECT_THAT(first, HasSubstr("src=\"contact_sheet.png\""));
  EXPECT_THAT(first, HasSubstr("not trained yet"));

  add_run("hmix", 80);
  add_run("none", 76);
  std::filesystem::create_directories(folder_ / "d/runs/gmix-seed1");  // not finished
  write_picture(path("d/gallery.png"), 0, 8, 8);
  write_file(path("d/comparison.json"),
             R"({"images":2000,"against":{"only_this":[1,2,3],"only_other":[4]}})");
  const std::string second = page();
  EXPECT_THAT(second, HasSubstr("src=\"runs/hmix-seed1/batch.png\""));
  EXPECT_LT(second.find("<td><code>none</code></td><td>76"), second.find("<td><code>hmix</code>"));
  EXPECT_THAT(second,
              HasSubstr("3 are right only with <code>hmix</code>, and 1 only without mixing."));
  EXPECT_THAT(second, Not(HasSubstr("<td><code>gmix</code>")));
}

TEST_F(DemoPageOption, RefusesWhatItCannotShow) {
  write_picture(path("a.png"), 4, 20, 20);
  EXPECT_EQ(demo({"a.png", "--page", "--out", "d"}).code, 2);
  EXPECT_EQ(demo({"--page", "--out", "missing"}).code, 1);
  add_run("none", 76);
  write_file(path("d/comparison.json"), "{}");
  EXPECT_THAT(demo({"--page", "--out", "d"}).err, HasSubstr("d/comparison.json is not what"));
}

TEST_F(DemoVerb, FailsWithoutLeavingAnything) {
  EXPECT_EQ(demo({"missing.png", "--out", "d"}).code, 1);
  EXPECT_EQ(demo({"--out", "d", "--tile", "2"}).code, 2);
  write_file(path("file"), "x");
  EXPECT_EQ(demo({"--out", "file"}).code, 1);
  EXPECT_THAT(names(), ElementsAre("file"));
}

}  // namespace
}  // namespace medley::cli_test
