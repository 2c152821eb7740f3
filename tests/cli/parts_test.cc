#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/image_folder.h"
#include "cli/input_files.h"
#include "cli/mix_request.h"
#include "cli/nn/sweep_progress.h"
#include "cli/plan_table.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/staged_output.h"
#include "medley/error.h"
#include "medley/plan.h"
#include "medley/policy.h"

namespace medley::cli_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

TEST(ProgressLine, ShowsShareRateAndTimeLeft) {
  const auto line = [](const char* label, std::int64_t done, std::int64_t total, double seconds) {
    return cli::progress_line(label, done, total, seconds, "", 80);
  };
  EXPECT_EQ(line("mixing", 50, 100, 4.0),
            "mixing [##########----------] 50/100  12.5/s  0:04 left");
  EXPECT_EQ(line("mixing", 0, 100, 4.0), "mixing [--------------------] 0/100");
  EXPECT_EQ(line("x", 1, 7201, 1.0), "x [--------------------] 1/7201  1.0/s  2:00:00 left");
  EXPECT_EQ(line("x", 3, 3, 1.5), "x [####################] 3/3  2.0/s  0:00 left");
}

TEST(ProgressLine, FitsTheTerminal) {
  const auto line = [](std::size_t columns) {
    return cli::progress_line("resnet18-cifar stochastic seed 1 epoch 1/1", 50, 100, 4.0,
                              "loss 2.302", columns);
  };
  EXPECT_EQ(line(110),
            "resnet18-cifar stochastic seed 1 epoch 1/1 [##########----------] 50/100  12.5/s  "
            "0:04 left  loss 2.302");
  EXPECT_EQ(line(87),
            "resnet18-cifar stochastic seed 1 epoch 1/1 [##--] 50/100  12.5/s  0:04 left  loss "
            "2.302");
  EXPECT_EQ(line(79),
            "resnet18-cifar stochastic seed 1 epoch 1/1 [####----] 50/100  12.5/s  0:04 left");
  EXPECT_EQ(line(70), "resnet18-cifar stochastic seed 1 epoch 1/1 50/100  12.5/s  0:04 left");
  EXPECT_EQ(line(20), "resnet18-cifar stoch");
  for (std::size_t columns = 1; columns < 100; ++columns) EXPECT_LE(line(columns).size(), columns);
}

TEST(SweepLine, ShowsTheShareAndTheTimeOfAllRuns) {
  EXPECT_EQ(cli::sweep_line(0.314, 102, "cutmix seed 1 epoch 173/200", 80),
            "sweep [######--------------] 31 %  1:42 left  cutmix seed 1 epoch 173/200");
  EXPECT_EQ(cli::sweep_line(0, 0, "x", 80), "sweep [--------------------] 0 %  x");
  EXPECT_EQ(cli::sweep_line(0.314, 102, "cutmix seed 1 epoch 173/200", 40),
            "sweep [#####-----------] 31 %  1:42 left");
}

TEST(Wrap, BreaksAtSpacesAndIndents) {
  EXPECT_EQ(cli::wrap("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(cli::wrap("unbreakable", 3, 2), "unbreakable");
  EXPECT_EQ(cli::wrap("", 3, 2), "");
  EXPECT_EQ(cli::wrap("a one,two,three b", 8, 1), "a\n one,two,\n three b");
}

TEST(Printable, ReplacesWhatATerminalWouldActOn) {
  EXPECT_EQ(cli::printable("λ = ½ ok"), "λ = ½ ok");
  EXPECT_EQ(cli::printable("a\x1b[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(cli::printable("\x89PNG\xC2\x85\xE2\x82"), "?PNG???");
}

TEST(Labels, AreOneWholeNumberPerLine) {
  EXPECT_THAT(cli::labels_from_text("3\n-1\r\n7", "f"), ElementsAre(3, -1, 7));
  EXPECT_THAT(cli::labels_from_text("", "f"), IsEmpty());
  for (const char* text : {"1\n\n2\n", "1 2\n", "one\n", "1.5", "99999999999999999999"}) {
    EXPECT_THROW(static_cast<void>(cli::labels_from_text(text, "f")), InvalidArgument) << text;
  }
}

TEST(DesignFile, SaysWhatIsWrong) {
  const auto message = [](const char* text) -> std::string {
    try {
      static_cast<void>(cli::design_from_json(text, "d.json"));
    } catch (const InvalidArgument& problem) {
      return problem.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message("{"), HasSubstr("d.json is not JSON: it ends early"));
  EXPECT_EQ(message("[]"), "d.json: expected a JSON object");
  EXPECT_THAT(message(R"({"schema": "x"})"), HasSubstr("medley.design/1"));
  EXPECT_THAT(message(R"({"height": 1, "width": 1, "mean": 0, "matrix": [[1]], "rows": [[1]]})"),
              HasSubstr("got both"));
  EXPECT_EQ(message(R"({"height": 1})"), "d.json: \"width\" is missing");
  EXPECT_THAT(message(R"({"height": 0, "width": 1})"), HasSubstr("\"height\" must be"));
  EXPECT_THAT(message(R"({"height": 1e30, "width": 1})"), HasSubstr("\"height\" must be"));
  EXPECT_EQ(message(R"({"height": 1, "width": 1, "mean": 0})"), "d.json: \"rows\" is missing");
  EXPECT_EQ(message(R"({"height": 1, "width": 1, "mean": [0, 1], "matrix": [[1]]})"),
            "d.json: \"mean\" must be one number or 1, got 2");
  EXPECT_THAT(message(R"({"height": 1, "width": 1, "mean": [0], "rows": [[1]], "columns": [[1]]})"),
              HasSubstr("beside \"rows\" and \"columns\", \"mean\" must be one number"));
  EXPECT_EQ(message(R"({"height": 1, "width": 1, "mean": 0, "matrix": [["x"]]})"),
            "d.json: \"matrix\" must hold numbers");
  EXPECT_EQ(message(R"({"height": 1, "width": 1, "mean": 0.5, "matrix": [[0.5]]})"), "accepted");
}

class Staged : public CliTest {};

TEST_F(Staged, FilesAppearOnCommitOnly) {
  write_file(path("old"), "old");
  {
    cli::StagedFiles files;
    files.write(path("old"), cli::bytes_of("new"));
    files.write(path("other"), cli::bytes_of("x"));
    EXPECT_EQ(read_file(path("old")), "old");
    EXPECT_FALSE(std::filesystem::exists(path("other")));
  }
  EXPECT_THAT(names(), ElementsAre("old"));
  cli::StagedFiles files;
  files.write(path("old"), cli::bytes_of("new"));
  files.write(path("other"), cli::bytes_of("x"));
  files.commit();
  EXPECT_EQ(read_file(path("old")), "new");
  EXPECT_THAT(names(), ElementsAre("old", "other"));
}

TEST_F(Staged, LinksKeepPointingAtTheirTarget) {
  write_file(path("target"), "old");
  std::filesystem::create_symlink("target", path("link"));
  cli::StagedFiles files;
  files.write(path("link"), cli::bytes_of("new"));
  files.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
}

TEST_F(Staged, DevicesAreWrittenTo) {
  cli::StagedFiles files;
  files.write("/dev/null", cli::bytes_of("gone"));
  files.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THROW(files.write("/dev/full", cli::bytes_of("x")), IoError);
}

TEST_F(Staged, FoldersVanishUnlessCommitted) {
  { cli::StagedFolder(path("a/b")).write("sub/file", cli::bytes_of("x")); }
  EXPECT_THAT(names(), IsEmpty());
  cli::StagedFolder folder(path("a/b"));
  folder.write("sub/file", cli::bytes_of("x"));
  folder.write("top", cli::bytes_of("y"));
  folder.commit();
  EXPECT_EQ(read_file(path("a/b/sub/file")), "x");
  EXPECT_EQ(read_file(path("a/b/top")), "y");
}

TEST_F(Staged, FoldersCannotBeFiles) {
  write_file(path("file"), "x");
  EXPECT_THROW(cli::StagedFolder(path("file")), IoError);
  EXPECT_THROW(cli::StagedFolder(path("file/sub")), IoError);
  EXPECT_EQ(read_file(path("file")), "x");
}

TEST_F(Staged, WhatKilledProcessesLeftIsRemoved) {
  std::filesystem::create_directories(folder_ / ".medley-00000000000000aa.part");
  write_file(path(".medley-00000000000000aa.part/000000.png"), "x");
  write_file(path(".medley-00000000000000bb.part"), "x");
  write_file(path(".medley-notes.part"), "the user's own");
  cli::StagedFolder folder(path("."));
  folder.write("a", cli::bytes_of("x"));
  cli::StagedFiles files;
  files.write(path("b"), cli::bytes_of("y"));
  EXPECT_EQ(names().size(), 3) << "the parts of those who still work stay";
  cli::write_staged(path("c"), cli::bytes_of("z"));
  folder.commit();
  files.commit();
  EXPECT_EQ(read_file(path("a")) + read_file(path("b")) + read_file(path("c")), "xyz");
  EXPECT_THAT(names(), IsSupersetOf({".medley-notes.part", "a", "b", "c"}));
}

class FolderPieces : public CliTest, public testing::WithParamInterface<const char*> {};

TEST_P(FolderPieces, GiveTheSameFolder) {
  std::filesystem::create_directory(folder_ / "in");
  write_picture(path("in/a.png"), 1, 6, 8);
  write_picture(path("in/b.png"), 2, 6, 8);
  cli::FolderRequest request;
  request.input = path("in");
  request.count = 7;
  request.policy.method = GetParam();
  request.policy.pairing = Pairing::dataset;
  request.policy.prob = 0.7;
  request.masks = true;
  request.quiet = true;
  testing::internal::CaptureStdout();
  request.output = path("whole");
  cli::mix_folder(request);
  request.output = path("pieces");
  request.piece_values = 2 * 6 * 8;
  cli::mix_folder(request);
  static_cast<void>(testing::internal::GetCapturedStdout());

  for (const std::string& name : names("whole")) {
    if (name == "plan.json") continue;
    EXPECT_EQ(read_file(path("whole/" + name)), read_file(path("pieces/" + name))) << name;
  }
  EXPECT_EQ(plan_from_json(read_file(path("whole/plan.json"))),
            plan_from_json(read_file(path("pieces/plan.json"))));
}

std::string method_name(const testing::TestParamInfo<const char*>& method) { return method.param; }

INSTANTIATE_TEST_SUITE_P(All, FolderPieces, testing::Values("fmix", "cutmix", "nmixup"),
                         method_name);

TEST(MaskText, DescribesEachKind) {
  EXPECT_EQ(cli::mask_text(FlatMask{0.25}), "flat 0.25");
  EXPECT_EQ(cli::mask_text(BoxMask{1, 2, 3, 4, 0, 0.5}),
            "box 3x4 at (1, 2): 0 inside, 0.5 outside");
  EXPECT_EQ(cli::mask_text(GaussianMask{1, 2, 0.5, Peak::own}),
            "gaussian at (1, 2), tau 0.5, peak own");
  EXPECT_EQ(cli::mask_text(FieldMask{}), "field");
  EXPECT_EQ(cli::mask_text(GridMask{0, 4, 8}), "grid 4x8, constant");
  EXPECT_EQ(cli::mask_text(OpenMask{}), "open");
}

}  // namespace
}  // namespace medley::cli_test
