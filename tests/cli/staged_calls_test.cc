// The file calls of staged output: their order, and what follows where one of them fails.

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/program.h"
#include "cli/staged_output.h"
#include "medley/error.h"

namespace {

std::vector<std::string> calls;
bool links = true;  // whether the file system has hard links

}  // namespace

#if !MEDLEY_SANITIZED
// They take the place of the C library's in this program.
extern "C" {

int fsync(int file) {
  calls.emplace_back("fsync");
  return static_cast<int>(syscall(SYS_fsync, file));
}

int rename(const char* from, const char* to) noexcept {
  calls.emplace_back("rename");
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int link(const char* from, const char* to) noexcept {
  if (links) return static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  errno = EPERM;
  return -1;
}
}
#endif

namespace medley::cli_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class StagedCalls : public CliTest, public testing::WithParamInterface<bool> {
 protected:
  StagedCalls() { links = GetParam(); }
  ~StagedCalls() override { links = true; }

  /// The error of a commit.
  template <typename Staged>
  static std::string problem(Staged& files) {
    try {
      files.commit();
    } catch (const IoError& error) {
      return error.what();
    }
    return {};
  }
};

TEST_P(StagedCalls, FilesAreReplacedAllOrNone) {
  write_file(path("a"), "old");
  fs::create_symlink("a", path("link"));
  {
    cli::StagedFiles files;
    for (const char* name : {"a", "link", "new", "z", "zz"}) {
      files.write(path(name), cli::bytes_of("new"));
    }
    fs::create_directory(path("z"));
    EXPECT_THAT(problem(files), HasSubstr("z: it is a folder"));
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_THAT(names(), ElementsAre("a", "link", "z"));
}

TEST_P(StagedCalls, TheLastFileMayFailToo) {
  write_file(path("a"), "old");
  {
    cli::StagedFiles files;
    files.write(path("a"), cli::bytes_of("new"));
    files.write(path("z"), cli::bytes_of("new"));
    fs::create_directory(path("z"));
    EXPECT_THAT(problem(files), HasSubstr("cannot write"));
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_THAT(names(), ElementsAre("a", "z"));
}

TEST_P(StagedCalls, FoldersAreReplacedAllOrNone) {
  fs::create_directories(path("out/c/kept"));
  write_file(path("out/b"), "old");
  {
    cli::StagedFolder folder(path("out"));
    for (const char* name : {"a", "b", "below/x", "c", "d"}) {
      folder.write(name, cli::bytes_of("new"));
    }
    EXPECT_THAT(problem(folder), HasSubstr("c: it is a folder"));
  }
  EXPECT_EQ(read_file(path("out/b")), "old");
  EXPECT_THAT(names("out"), ElementsAre("b", "c"));
  EXPECT_THAT(names("out/c"), ElementsAre("kept"));
}

TEST_P(StagedCalls, WhatWasReplacedIsGone) {
  fs::create_directories(path("out"));
  write_file(path("out/a"), "old");
  write_file(path("out/mine"), "mine");
  {
    cli::StagedFolder folder(path("out"));
    folder.write("a", cli::bytes_of("new"));
    folder.write("b", cli::bytes_of("new"));
    folder.commit();
  }
  EXPECT_EQ(read_file(path("out/a")), "new");
  EXPECT_THAT(names("out"), ElementsAre("a", "b", "mine"));
}

TEST_P(StagedCalls, FilesAreFlushedBeforeTheyAreMovedAndTheirFolderAfterwards) {
  if (MEDLEY_SANITIZED) GTEST_SKIP() << "sanitizers have file calls of their own";
  cli::StagedFiles files;
  files.write(path("a"), cli::bytes_of("x"));
  files.write(path("b"), cli::bytes_of("x"));
  calls.clear();
  files.commit();
  EXPECT_THAT(calls, ElementsAre("rename", "rename", "fsync"));

  calls.clear();
  cli::write_staged(path("c"), cli::bytes_of("x"));
  EXPECT_THAT(calls, ElementsAre("fsync", "rename", "fsync"));

  cli::StagedFolder folder(path("out"));
  folder.write("a", cli::bytes_of("x"));
  folder.write("b", cli::bytes_of("x"));
  calls.clear();
  folder.commit();
  // Two files, their moves, the folder, and the one that the folder is in.
  EXPECT_THAT(calls, ElementsAre("fsync", "fsync", "rename", "rename", "fsync", "fsync"));
}

INSTANTIATE_TEST_SUITE_P(On, StagedCalls, testing::Bool(), [](const auto& param) {
  return param.param ? "AnyFileSystem" : "OneWithoutHardLinks";
});

}  // namespace
}  // namespace medley::cli_test
