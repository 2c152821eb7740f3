#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"
#include "medley/data/image.h"
#include "medley/policy.h"

namespace medley::cli_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

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
  EXPECT_THAT(names("build/demo"),
              ElementsAre("cat.png", "contact_sheet.png", "flower.png", "methods"));
  EXPECT_EQ(medley({"mix", "build/demo/cat.png", "build/demo/flower.png", "--method", "hmix", "-o",
                    "mixed.png"},
                   {.folder = folder_})
                .code,
            0);
  EXPECT_EQ(names("build/demo/methods").size(), methods().size());
  for (const MethodInfo* method : methods()) {
    const auto name = "build/demo/methods/" + std::string(method->name) + ".png";
    EXPECT_GT(read_image(path(name)).size.pixels(), 0) << name;
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

TEST_F(DemoVerb, FailsWithoutLeavingAnything) {
  EXPECT_EQ(demo({"missing.png", "--out", "d"}).code, 1);
  EXPECT_EQ(demo({"--out", "d", "--tile", "2"}).code, 2);
  write_file(path("file"), "x");
  EXPECT_EQ(demo({"--out", "file"}).code, 1);
  EXPECT_THAT(names(), ElementsAre("file"));
}

}  // namespace
}  // namespace medley::cli_test
