#include "core/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/forks.h"

namespace medley {
namespace {

/// How often each of `count` items was visited.
std::vector<int> visits(std::int64_t count, int threads) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  parallel_for(count, threads, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
  return {seen.begin(), seen.end()};
}

bool each_once(const std::vector<int>& seen) {
  return std::ranges::all_of(seen, [](int times) { return times == 1; });
}

class ParallelFor : public testing::TestWithParam<int> {};

TEST_P(ParallelFor, VisitsEveryItemOnce) {
  for (const std::int64_t count : {1, 2, 3, 17, 1000}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      ASSERT_TRUE(each_once(visits(count, GetParam()))) << count;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(0, 1, 2, 3, 16, 1000),
                         [](const auto& param) { return std::to_string(param.param); });

TEST(ParallelFor, OfNoItemsDoesNothing) {
  parallel_for(0, 4, [](std::int64_t) { FAIL(); });
}

TEST(ParallelFor, OnOneThreadKeepsTheOrder) {
  std::vector<std::int64_t> order;
  parallel_for(5, 1, [&](std::int64_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, RunsItemsAtTheSameTime) {
  // Each item waits for the other, so this ends only if two threads work.
  std::atomic<int> arrived{0};
  parallel_for(2, 2, [&](std::int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ParallelFor, SeesWhatItemsWrote) {
  std::vector<std::int64_t> squares(1000);
  parallel_for(1000, 4, [&](std::int64_t i) { squares[static_cast<std::size_t>(i)] = i * i; });
  for (std::size_t i = 0; i < squares.size(); ++i) {
    ASSERT_EQ(squares[i], static_cast<std::int64_t>(i * i));
  }
}

TEST(ParallelFor, MayBeNested) {
  std::vector<std::vector<int>> seen(8);
  parallel_for(8, 4, [&](std::int64_t i) { seen[static_cast<std::size_t>(i)] = visits(100, 4); });
  for (const auto& inner : seen) EXPECT_TRUE(each_once(inner));
}

TEST(ParallelFor, ThrowsWhatItemsThrow) {
  for (const int threads : {1, 2, 16}) {
    for (int turn = 0; turn < 50; ++turn) {
      EXPECT_THROW(parallel_for(40, threads,
                                [&](std::int64_t i) {
                                  if (i % 7 == turn % 7) throw std::bad_alloc();
                                }),
                   std::bad_alloc);
    }
  }
  std::atomic<int> calls = 0;  // the workers are all right
  parallel_for(100, 16, [&](std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 100);
}

TEST(ParallelFor, MayBeCalledFromSeveralThreads) {
  std::atomic<int> wrong{0};
  std::array<std::thread, 4> callers;
  for (std::thread& caller : callers) {
    caller = std::thread([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        if (!each_once(visits(64, 3))) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

/// Runs `body` in a forked process that ends by itself after some seconds at most; its wait status.
int status_of_child(const std::function<void()>& body) {
  constexpr unsigned kSeconds = 20;  // a child that hangs dies of SIGALRM
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    body();
    _exit(2);  // not reached by a body that exits itself
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(ParallelFor, WorksInAForkedChild) {
  if (!test::kForks) GTEST_SKIP() << test::kNoForks;
  ASSERT_TRUE(each_once(visits(64, 4)));  // the parent's workers exist
  const int status = status_of_child([] {
    bool good = true;
    for (int repeat = 0; repeat < 200; ++repeat) good = good && each_once(visits(64, 4));
    _exit(good ? 0 : 1);
  });
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ParallelFor, ForkedWhileWorkersAreBusyWorksInTheChild) {
  if (!test::kForks) GTEST_SKIP() << test::kNoForks;
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) (void)visits(16, 3);
  });
  for (int repeat = 0; repeat < 20; ++repeat) {
    const int status = status_of_child([] { _exit(each_once(visits(64, 3)) ? 0 : 1); });
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  stop = true;
  busy.join();
}

TEST(ParallelFor, LetsAForkedChildExit) {
  if (!test::kForks) GTEST_SKIP() << test::kNoForks;
  ASSERT_TRUE(each_once(visits(64, 4)));
  const int status = status_of_child([] { std::exit(each_once(visits(64, 4)) ? 0 : 1); });
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(HardwareThreads, IsAtLeastOne) { EXPECT_GE(hardware_threads(), 1); }

}  // namespace
}  // namespace medley
