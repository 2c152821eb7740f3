// How the program of the training verbs uses the machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace medley::cli_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class TrainingProgram : public CliTest {};

/// What OpenMP was started with.
std::string openmp_of(const Setting& setting) {
  Setting shown = setting;
  shown.variables.emplace_back("OMP_DISPLAY_ENV=VERBOSE");
  return medley({"train", "--help"}, shown).err;
}

TEST_F(TrainingProgram, WaitsWithoutKeepingCoresBusyUnlessTold) {
  EXPECT_THAT(openmp_of({}), HasSubstr("GOMP_SPINCOUNT = '10000'"));
  EXPECT_THAT(openmp_of({.variables = {"GOMP_SPINCOUNT=77"}}), HasSubstr("GOMP_SPINCOUNT = '77'"));
  EXPECT_THAT(openmp_of({.variables = {"OMP_WAIT_POLICY=active"}}),
              Not(HasSubstr("GOMP_SPINCOUNT = '10000'")));
}

TEST_F(TrainingProgram, IsAskedByInfoWhichLibTorchItRunsOn) {
  const nlohmann::json training = medley({"info", "--json"}).json()["training"];
  EXPECT_THAT(training["libtorch"].get<std::string>(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
  const std::filesystem::path folder = training["folder"].get<std::string>();
  EXPECT_TRUE(std::filesystem::exists(folder / "libc10.so")) << folder;
  EXPECT_THAT(medley({"info"}).out,
              AllOf(HasSubstr("LibTorch " + training["libtorch"].get<std::string>()),
                    HasSubstr(folder.string())));
}

TEST_F(TrainingProgram, IsReportedByInfoWhereItDoesNotStartOrIsNotThere) {
  const std::filesystem::path program = path("medley");
  std::filesystem::copy_file(MEDLEY_PROGRAM, program);
  EXPECT_EQ(medley({"info", "--json"}, {.program = program}).json()["training"], nullptr);
  write_file(path("medley-nn"), "#!/bin/sh\necho libtorch_cpu.so: cannot open >&2\nexit 127\n");
  std::filesystem::permissions(path("medley-nn"), std::filesystem::perms::owner_all);
  EXPECT_EQ(medley({"info", "--json"}, {.program = program}).json()["training"]["error"],
            "libtorch_cpu.so: cannot open");
  EXPECT_THAT(medley({"info"}, {.program = program}).out,
              HasSubstr("does not start: libtorch_cpu.so: cannot open"));
}

TEST_F(TrainingProgram, IsNamedWhereItCannotBeStarted) {
  const std::filesystem::path program = path("medley");
  std::filesystem::copy_file(MEDLEY_PROGRAM, program);
  const Outcome missing = medley({"train", "--out", path("run")}, {.program = program});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("the training engine " + path("medley-nn") + " is not there"));
  write_file(path("medley-nn"), "no program");
  const Outcome broken = medley({"train", "--out", path("run")}, {.program = program});
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("medley-nn does not start: "));
}

TEST_F(TrainingProgram, KeepsTheMemoryOfAStepForTheNext) {
  if (MEDLEY_SANITIZED != 0) GTEST_SKIP() << "a sanitizer has a memory allocator of its own";
  const auto faults = [&](const std::string& epochs) {
    const Outcome outcome =
        medley({"train", "--data", "synthetic:train=200,test=10,classes=4", "--batch", "50",
                "--epochs", epochs, "--device", "cpu", "--threads", "1", "--out", path(epochs)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.page_faults;
  };
  // Mapped anew, the memory of a step of 50 images of 32x32 is some 5,000 pages.
  constexpr int kStepsMore = 16;
  EXPECT_LT((faults("5") - faults("1")) / kStepsMore, 1000);
}

}  // namespace
}  // namespace medley::cli_test
