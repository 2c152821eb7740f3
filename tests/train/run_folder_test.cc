#include "medley/train/run_folder.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "medley/error.h"
#include "train/events.h"

namespace medley {
namespace {

namespace fs = std::filesystem;

class RunFolders : public testing::Test {
 protected:
  RunFolders() : path_(fs::temp_directory_path() / ("medley-run-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
  }
  ~RunFolders() override { fs::remove_all(path_); }

  fs::path path_;
};

std::vector<EpochMetrics> two_epochs() {
  EpochMetrics a{1, 0.1, 2.5, Score{10, 50, 11}, 1.5, 100, 1e9};
  EpochMetrics b{2, 0.05, 2, Score{20, 60, 21, 22.0}, 1.5, 100, 1e9 + 2};
  return {a, b};
}

TEST_F(RunFolders, HoldMetricsAsLinesAndEvents) {
  const RunFolder folder(path_, RunFolder::Existing::refuse);
  folder.start();
  folder.write_metrics(two_epochs());
  std::vector<EpochMetrics> back = read_metrics(folder.file("metrics.jsonl"));
  ASSERT_EQ(back.size(), 2);
  EXPECT_EQ(back[1].score, (Score{20, 60, 21, 22.0}));
  EXPECT_EQ(decode_metrics(encode_metrics(two_epochs()), "m"), two_epochs());
  std::ifstream file(folder.file("events.out.tfevents.0.medley"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(decode_events(bytes, "events").size(), 11);
}

TEST_F(RunFolders, SayWhatIsWrongWithMetrics) {
  const RunFolder folder(path_, RunFolder::Existing::refuse);
  folder.start();
  folder.write("metrics.jsonl", metrics_line(two_epochs()[0]) + "\n{\"epoch\": 2e152}\n");
  const std::string file = folder.file("metrics.jsonl").string();
  EXPECT_THAT([&] { (void)read_metrics(file); },
              testing::ThrowsMessage<IoError>("line 2 of " + file +
                                              ": epoch must be a whole number from 1, got 2e+152"));
  folder.write("metrics.jsonl", std::string(100'000, '['));
  EXPECT_THROW((void)read_metrics(file), IoError);
  for (const char* text : {"", "{}", "[1]", "[{}]", R"([{"epoch": 4611686018427387904}])"}) {
    EXPECT_THROW((void)decode_metrics(text, "m"), IoError) << text;
  }
}

TEST_F(RunFolders, AreNotReplacedByAccident) {
  const RunFolder first(path_, RunFolder::Existing::refuse);
  EXPECT_FALSE(fs::exists(path_));
  first.start();
  first.write("recipe.json", "{}");
  EXPECT_THROW(RunFolder(path_, RunFolder::Existing::refuse), InvalidArgument);
  RunFolder(path_, RunFolder::Existing::resume).start();
  EXPECT_TRUE(fs::exists(path_ / "recipe.json"));
  for (const char* mine : {"notes.txt", "film.part", "checkpoint-old.medley"}) {
    std::ofstream(path_ / mine) << "mine";
  }
  std::ofstream(path_ / "result.json.part") << "half";
  const RunFolder again(path_, RunFolder::Existing::overwrite);
  EXPECT_TRUE(fs::exists(path_ / "recipe.json"));
  again.start();
  EXPECT_FALSE(fs::exists(path_ / "recipe.json"));
  EXPECT_FALSE(fs::exists(path_ / "result.json.part"));
  for (const char* mine : {"notes.txt", "film.part", "checkpoint-old.medley"}) {
    EXPECT_TRUE(fs::exists(path_ / mine)) << mine;
  }
}

}  // namespace
}  // namespace medley
