#include "train/run_folder.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "medley/error.h"
#include "train/checkpoint.h"
#include "train/events.h"
#include "train/folder.h"

namespace medley::train {
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

const std::vector<RunFile> kHead = {{"recipe.json", "{}"}, {"run.json", "{}"}};

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(RunFolders, HoldMetricsAsLinesAndEvents) {
  RunFolder folder(path_, ExistingRun::refuse);
  folder.start(kHead);
  folder.write_metrics(two_epochs());
  std::vector<EpochMetrics> back = read_metrics(folder.file("metrics.jsonl"));
  ASSERT_EQ(back.size(), 2);
  EXPECT_EQ(back[1].score, (Score{20, 60, 21, 22.0}));
  EXPECT_EQ(decode_metrics(encode_metrics(two_epochs()), "m"), two_epochs());
  const std::string events = content(folder.file("events.out.tfevents.0.medley"));
  EXPECT_EQ(decode_events(events, "events").size(), 11);
}

TEST_F(RunFolders, AddToTheirMetrics) {
  const std::vector<EpochMetrics> all = two_epochs();
  RunFolder folder(path_, ExistingRun::refuse);
  folder.start(kHead);
  folder.write_metrics({});
  // Others keep them open.
  std::ifstream lines(folder.file("metrics.jsonl"));
  std::ifstream events(folder.file("events.out.tfevents.0.medley"), std::ios::binary);
  std::string line;
  EXPECT_FALSE(std::getline(lines, line));
  for (std::size_t n = 1; n <= all.size(); ++n) {
    folder.write_metrics({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)});
    lines.clear();
    ASSERT_TRUE(std::getline(lines, line)) << n;
    EXPECT_EQ(line, metrics_line(all[n - 1]));
  }
  const std::string seen{std::istreambuf_iterator<char>(events), {}};
  EXPECT_EQ(decode_events(seen, "events").size(), 11);
}

TEST_F(RunFolders, MendMetricsThatACrashLeft) {
  const std::vector<EpochMetrics> all = two_epochs();
  RunFolder folder(path_, ExistingRun::refuse);
  folder.start(kHead);
  const std::vector<std::string> names = {"metrics.jsonl", "events.out.tfevents.0.medley"};
  folder.write_metrics(all);
  std::vector<std::string> whole;
  for (const std::string& name : names) whole.push_back(content(folder.file(name)));
  const auto expect_mended = [&](const char* how) {
    folder.write_metrics(all);
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(content(folder.file(names[i])), whole[i]) << names[i] << ' ' << how;
    }
  };
  for (const std::string& name : names) {
    const fs::path file = folder.file(name);
    fs::resize_file(file, fs::file_size(file) - 9);
    expect_mended("torn");
    fs::resize_file(file, fs::file_size(file) + 5000);
    expect_mended("zeros behind the end");
    std::ofstream(file, std::ios::app | std::ios::binary) << "an epoch that was lost\n";
    expect_mended("longer");
    fs::resize_file(file, 30);
    fs::resize_file(file, 400);
    expect_mended("zeros in the middle");
    fs::remove(file);
    expect_mended("removed");
    fs::remove(file);
    std::ofstream(path_ / "other") << "mine";
    fs::create_symlink("other", file);
    expect_mended("a link");
    EXPECT_EQ(content(path_ / "other"), "mine");
    fs::remove(file);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    expect_mended("a pipe");
  }
  folder.write_metrics({});
  EXPECT_EQ(content(folder.file("metrics.jsonl")), "");
}

TEST_F(RunFolders, SayWhatIsWrongWithMetrics) {
  RunFolder folder(path_, ExistingRun::refuse);
  folder.start(kHead);
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
  {
    RunFolder first(path_, ExistingRun::refuse);
    EXPECT_FALSE(fs::exists(path_));
    first.start(kHead);
  }
  EXPECT_THROW(RunFolder(path_, ExistingRun::refuse), InvalidArgument);
  RunFolder(path_, ExistingRun::resume).go_on(kHead);
  EXPECT_TRUE(fs::exists(path_ / "recipe.json"));
  const auto mine = {"notes.txt", "film.part", "checkpoint-old.medley", ".part", "recipe.json.old"};
  for (const char* name : mine) std::ofstream(path_ / name) << "mine";
  for (const char* old : {"result.json.part", "checkpoint-0000000007.medley", "metrics.jsonl",
                          ".medley-17-0.tmp", "batch.png", "weights.safetensors"}) {
    std::ofstream(path_ / old) << "old";
  }
  RunFolder again(path_, ExistingRun::overwrite);
  EXPECT_TRUE(fs::exists(path_ / "batch.png"));
  again.start({{"recipe.json", "new"}});
  EXPECT_EQ(content(path_ / "recipe.json"), "new");
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(path_)) left.push_back(entry.path().filename());
  std::vector<std::string> expected(mine.begin(), mine.end());
  expected.insert(expected.end(), {"recipe.json", ".lock"});
  EXPECT_THAT(left, testing::UnorderedElementsAreArray(expected));
}

TEST_F(RunFolders, AreWholeAsLongAsTheNewRunHasWrittenNothing) {
  RunFolder(path_, ExistingRun::refuse).start(kHead);
  const auto old = {"result.json", "weights.safetensors", "checkpoint-0000000007.medley"};
  for (const char* name : old) std::ofstream(path_ / name) << "old";
  fs::create_directory(path_ / "recipe.json.part");  // in the way of the new one
  RunFolder again(path_, ExistingRun::overwrite);
  EXPECT_THROW(again.start({{"recipe.json", "new"}}), IoError);
  EXPECT_EQ(content(path_ / "recipe.json"), "{}");
  for (const char* name : old) EXPECT_EQ(content(path_ / name), "old");
}

TEST_F(RunFolders, AreSweptOfWhatKilledProcessesLeft) {
  RunFolder(path_, ExistingRun::refuse).start(kHead);
  for (const char* left : {"checkpoint-0000000007.medley.part", ".medley-1a2b.tmp"}) {
    std::ofstream(path_ / left) << "half";
  }
  std::ofstream(path_ / "checkpoint-0000000007.medley") << "whole";
  RunFolder folder(path_, ExistingRun::resume);
  folder.go_on(kHead);
  EXPECT_FALSE(fs::exists(path_ / "checkpoint-0000000007.medley.part"));
  EXPECT_FALSE(fs::exists(path_ / ".medley-1a2b.tmp"));
  EXPECT_TRUE(fs::exists(path_ / "checkpoint-0000000007.medley"));
}

TEST_F(RunFolders, MayHoldAFileOfAnyName) {
  fs::create_directories(path_);
  for (const char* name : {".part", ".part.part", ".tmp", "checkpoint-.medley.part"}) {
    std::ofstream(path_ / name) << "mine";
  }
  RunFolder folder(path_, ExistingRun::refuse);
  folder.start(kHead);
  EXPECT_EQ(content(path_ / ".part"), "mine");
}

TEST_F(RunFolders, ThatCannotBeReadAreNotEmpty) {
  fs::create_directories(path_);
  fs::create_directory_symlink("loop", path_ / "loop");
  EXPECT_THAT([&] { RunFolder(path_ / "loop", ExistingRun::refuse); },
              testing::ThrowsMessage<IoError>(testing::HasSubstr("cannot read folder")));
  EXPECT_THROW((void)list_folder(path_ / "loop"), IoError);
  EXPECT_THROW((void)CheckpointFolder(path_ / "loop").files(), IoError);
  std::ofstream(path_ / "file") << "no folder";
  EXPECT_THROW((void)list_folder(path_ / "file"), IoError);
  EXPECT_TRUE(list_folder(path_ / "none").empty());
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_THROW((void)list_folder(path_), IoError);
  EXPECT_THROW(RunFolder(path_, ExistingRun::refuse), IoError);
  setrlimit(RLIMIT_NOFILE, &before);
}

/// Runs something as a user who has no more rights than others, and returns its exit code.
template <typename Do>
int without_rights(const Do& something) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
    _exit(something());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(RunFolders, ThatMayNotBeReadKeepTheirRun) {
  RunFolder(path_, ExistingRun::refuse).start(kHead);
  for (const char* name : {"result.json", "weights.safetensors"}) {
    std::ofstream(path_ / name) << "old";
  }
  if (geteuid() == 0) {
    for (const auto& entry : fs::directory_iterator(path_)) {
      ASSERT_EQ(chown(entry.path().c_str(), 65534, 65534), 0);
    }
    ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  }
  fs::permissions(path_, fs::perms::owner_write | fs::perms::owner_exec);
  for (const auto existing : {ExistingRun::refuse, ExistingRun::resume, ExistingRun::overwrite}) {
    EXPECT_EQ(without_rights([&] {
                try {
                  RunFolder(path_, existing).start({{"recipe.json", "new"}});
                } catch (const IoError&) {
                  return 1;
                }
                return 0;
              }),
              1);
  }
  fs::permissions(path_, fs::perms::owner_all);
  for (const char* name : {"result.json", "weights.safetensors"}) {
    EXPECT_EQ(content(path_ / name), "old");
  }
  EXPECT_EQ(content(path_ / "recipe.json"), "{}");
}

TEST_F(RunFolders, AreOfOneRunAtATime) {
  const auto in_use = testing::ThrowsMessage<IoError>(testing::MatchesRegex(
      path_.string() + " is in use by process " + std::to_string(getpid()) + " on host [^ ]+"));
  {
    RunFolder first(path_, ExistingRun::refuse);
    RunFolder late(path_, ExistingRun::refuse);
    first.start(kHead);
    EXPECT_THAT([&] { late.start(kHead); }, in_use);
    for (const auto existing : {ExistingRun::refuse, ExistingRun::resume, ExistingRun::overwrite}) {
      EXPECT_THAT([&] { RunFolder(path_, existing); }, in_use);
    }
  }
  EXPECT_FALSE(fs::exists(path_ / ".lock"));
  // What a killed one leaves holds nothing.
  std::ofstream(path_ / ".lock") << "process 1 on host nowhere\n";
  RunFolder next(path_, ExistingRun::resume);
  EXPECT_TRUE(next.lock_problem().empty());
}

TEST_F(RunFolders, ThatAnotherBeganMeanwhileAreRefused) {
  RunFolder late(path_, ExistingRun::resume);
  RunFolder(path_, ExistingRun::refuse).start(kHead);
  EXPECT_THAT(
      [&] {
        late.start({{"recipe.json", "new"}});
      },
      testing::ThrowsMessage<IoError>(testing::HasSubstr("meanwhile")));
  EXPECT_EQ(content(path_ / "recipe.json"), "{}");
}

TEST_F(RunFolders, OfAKilledProcessAreFree) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    RunFolder holder(path_, ExistingRun::refuse);
    holder.start(kHead);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THAT([&] { RunFolder(path_, ExistingRun::resume); },
              testing::ThrowsMessage<IoError>(
                  testing::HasSubstr("process " + std::to_string(child) + " on host ")));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(RunFolder(path_, ExistingRun::resume));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RunFolders, AreLockedThroughNoLinkOrPipe) {
  fs::create_directories(path_);
  std::ofstream(path_ / "other") << "mine";
  fs::create_symlink("other", path_ / ".lock");
  EXPECT_THROW(RunFolder(path_, ExistingRun::refuse), IoError);
  EXPECT_EQ(content(path_ / "other"), "mine");
  fs::remove(path_ / ".lock");
  ASSERT_EQ(mkfifo((path_ / ".lock").c_str(), 0600), 0);
  EXPECT_THAT([&] { RunFolder(path_, ExistingRun::refuse); },
              testing::ThrowsMessage<IoError>(testing::HasSubstr("is not a regular file")));
}

}  // namespace
}  // namespace medley::train
