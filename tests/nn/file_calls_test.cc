// Runs that are killed at a chosen file call, or in the middle of one.

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/content_hash.h"
#include "medley/error.h"
#include "medley/nn/trainer.h"
#include "medley/train/result.h"
#include "nn/run_bits.h"
#include "support/forks.h"

namespace {

bool counts = false;
long calls = 0;
long last = 0;  // the process dies there; 0: nowhere

void reach() {
  if (counts && ++calls == last) raise(SIGKILL);
}

/// Dies halfway, or writes everything.
template <typename Write>
ssize_t write_part(std::size_t size, const Write& write) {
  reach();
  if (counts && calls + 1 == last) write(size / 2);
  reach();
  return write(size);
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
  if ((flags & O_CREAT) != 0) reach();
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  return write_part(size, [&](std::size_t n) { return syscall(SYS_write, file, bytes, n); });
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  return write_part(size, [&](std::size_t n) { return syscall(SYS_pwrite64, file, bytes, n, at); });
}

int fsync(int file) {
  reach();
  return static_cast<int>(syscall(SYS_fsync, file));
}

int ftruncate(int file, off_t size) noexcept {
  reach();
  return static_cast<int>(syscall(SYS_ftruncate, file, size));
}

int rename(const char* from, const char* to) noexcept {
  reach();
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept {
  reach();
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

int remove(const char* path) noexcept {  // of files, as std::filesystem calls it
  reach();
  if (syscall(SYS_unlinkat, AT_FDCWD, path, 0) == 0) return 0;
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}
}
#endif

namespace medley::nn {
namespace {

namespace fs = std::filesystem;

class FileCalls : public testing::Test {
 protected:
  FileCalls() : root_(fs::temp_directory_path() / ("medley-calls-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
    options_.recipe = train::find_recipe("demo");
    options_.recipe.epochs = 2;
    options_.recipe.batch = 10;
    options_.recipe.mix.method = "hmix";
    options_.seed = 5;
    options_.threads = 1;
  }
  ~FileCalls() override { fs::remove_all(root_); }

  void SetUp() override {
    if (!test::kForks) GTEST_SKIP() << test::kNoForks;
  }

  TrainOptions in(const std::string& name, train::ExistingRun existing) const {
    TrainOptions options = options_;
    options.out = root_ / name;
    options.existing = existing;
    return options;
  }
  void run(const TrainOptions& options) const {
    TrainObserver silent;
    train(data_, options, silent);
  }
  /// In a process of its own, which dies at that call. Whether it came so far.
  bool dies_at(long call, const TrainOptions& options) const {
    const pid_t child = fork();
    if (child == 0) {
      counts = true;
      last = call;
      run(options);
      counts = false;
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
  }

  fs::path root_;
  data::ImageData data_ = data::open_data("synthetic:train=20,test=10,size=16,classes=4");
  TrainOptions options_;
};

/// Of every so many calls one is the last; MEDLEY_CALL_STRIDE=1 takes them all.
long stride() {
  const char* wanted = std::getenv("MEDLEY_CALL_STRIDE");
  return wanted == nullptr ? 3 : std::max(1L, std::atol(wanted));
}

TEST_F(FileCalls, AnyOfThemMayBeTheLast) {
  run(in("whole", train::ExistingRun::resume));
  const std::string whole = test::bits_of_run(root_ / "whole");
  long call = 1;
  for (;; call += stride()) {
    const TrainOptions options = in("a", train::ExistingRun::resume);
    if (!dies_at(call, options)) break;
    // The next process dies elsewhere; the one after it comes to the end.
    dies_at(5 + call % 7, options);
    run(options);
    ASSERT_EQ(test::bits_of_run(options.out), whole) << "killed at call " << call;
    for (const char* file : {"recipe.json", "run.json", "batch.png"}) {
      ASSERT_EQ(test::bytes_of(options.out / file), test::bytes_of(root_ / "whole" / file))
          << file << ", killed at call " << call;
    }
    for (const auto& entry : fs::directory_iterator(options.out)) {
      const std::string name = entry.path().filename();
      ASSERT_FALSE(name.ends_with(".part") || name.starts_with(".")) << name;
    }
    fs::remove_all(options.out);
  }
  EXPECT_GT(call, 60);  // all of them were seen
  RecordProperty("calls", std::to_string(call));
}

TEST_F(FileCalls, ReplacingARunLeavesNoMixture) {
  const TrainOptions first = in("a", train::ExistingRun::resume);
  TrainOptions second = in("a", train::ExistingRun::overwrite);
  second.seed = 6;
  TrainOptions alone = second;
  alone.out = root_ / "alone";
  run(alone);
  const std::string whole = test::bits_of_run(root_ / "alone");
  for (long call = 1; call < 60; call += 2 * stride()) {
    run(first);
    ASSERT_TRUE(dies_at(call, second)) << call;
    if (const auto result = train::finished_result(first.out)) {
      ASSERT_EQ(result->seed, first.seed) << "killed at call " << call;
      const std::string weights = test::bytes_of(first.out / "weights.safetensors");
      if (!weights.empty()) {
        ASSERT_EQ(result->weights_hash,
                  data::content_hash(
                      {reinterpret_cast<const std::uint8_t*>(weights.data()), weights.size()}));
      }
    }
    run(second);
    ASSERT_EQ(test::bits_of_run(second.out), whole) << "killed at call " << call;
    fs::remove_all(first.out);
  }
}

}  // namespace
}  // namespace medley::nn
