// File calls that a signal interrupts.

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "data/file.h"
#include "train/checkpoint.h"
#include "train/growing_file.h"
#include "train/run_folder.h"

namespace {

bool interrupts = false;
int interrupted = 0;

/// Every other call, that each is made again with success.
bool is_interrupted() {
  static bool last = false;
  if (!interrupts) return false;
  last = !last;
  if (!last) return false;
  ++interrupted;
  errno = EINTR;
  return true;
}

template <typename... Arguments>
long call(long number, Arguments... arguments) {
  return is_interrupted() ? -1 : syscall(number, arguments...);
}

}  // namespace

#if !MEDLEY_SANITIZED
// They take the place of the C library's in this program.
extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return static_cast<int>(call(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  return call(SYS_write, file, bytes, size);
}

ssize_t pread(int file, void* bytes, std::size_t size, off_t at) {
  return call(SYS_pread64, file, bytes, size, at);
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  return call(SYS_pwrite64, file, bytes, size, at);
}

int fsync(int file) { return static_cast<int>(call(SYS_fsync, file)); }

int close(int file) {  // is done all the same, as on Linux
  const auto result = static_cast<int>(syscall(SYS_close, file));
  return is_interrupted() ? -1 : result;
}

int ftruncate(int file, off_t size) noexcept {
  return static_cast<int>(call(SYS_ftruncate, file, size));
}

int flock(int file, int operation) noexcept {
  return static_cast<int>(call(SYS_flock, file, operation));
}

int rename(const char* from, const char* to) noexcept {
  return static_cast<int>(call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept {
  return static_cast<int>(call(SYS_unlinkat, AT_FDCWD, path, 0));
}

int remove(const char* path) noexcept {  // as std::filesystem calls it
  if (call(SYS_unlinkat, AT_FDCWD, path, 0) == 0) return 0;
  if (errno != EISDIR) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}
}
#endif

namespace medley::train {
namespace {

namespace fs = std::filesystem;

class Interrupted : public testing::Test {
 protected:
  void SetUp() override {
    if (MEDLEY_SANITIZED) GTEST_SKIP() << "sanitizers have file calls of their own";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    interrupted = 0;
    interrupts = true;
  }
  void TearDown() override {
    interrupts = false;
    fs::remove_all(folder_);
  }

  [[nodiscard]] std::string content(const char* name) const {
    const std::vector<std::uint8_t> bytes = data::read_file(folder_ / name);
    return {bytes.begin(), bytes.end()};
  }

  fs::path folder_ = fs::temp_directory_path() / ("medley-interrupted-" + std::to_string(getpid()));
};

const std::vector<std::uint8_t> kBytes = {'a', 'b', 'c'};

TEST_F(Interrupted, FilesAreWrittenAllTheSame) {
  data::write_file(folder_ / "a", kBytes);
  data::write_file_durably(folder_ / "b", kBytes);
  data::write_file_durably(folder_ / "b", kBytes);
  grow_file(folder_ / "c", "one\n");
  grow_file(folder_ / "c", "one\ntwo\n");
  EXPECT_EQ(content("a"), "abc");
  EXPECT_EQ(content("b"), "abc");
  EXPECT_EQ(content("c"), "one\ntwo\n");
  EXPECT_GT(interrupted, 20);
}

TEST_F(Interrupted, RunsAreBegunAndReplacedAllTheSame) {
  const std::vector<RunFile> files = {{"recipe.json", "{}"}};
  for (const auto existing : {ExistingRun::refuse, ExistingRun::overwrite}) {
    RunFolder run(folder_, existing);
    run.start(files);
    const CheckpointFolder checkpoints(folder_);
    for (int step = 1; step < 5; ++step) checkpoints.save(step, {"state", {}});
    std::vector<std::string> problems;
    const auto found = checkpoints.load_newest(problems);
    ASSERT_TRUE(found) << testing::PrintToString(problems);
    EXPECT_EQ(found->checkpoint.state, "state");
  }
  EXPECT_EQ(content("recipe.json"), "{}");
  EXPECT_GT(interrupted, 20);
}

}  // namespace
}  // namespace medley::train
