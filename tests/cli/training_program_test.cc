// How the program of the training verbs uses the machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.h"

namespace medley::cli_test {
namespace {

using testing::HasSubstr;
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
