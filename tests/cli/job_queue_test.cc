#include "cli/nn/job_queue.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "medley/error.h"

namespace medley::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const JobQueue::Note kSilent = [](const std::string&) {};
const JobQueue::Failed kEndAll = [](std::size_t, const std::exception_ptr&) { return false; };

TEST(JobQueue, DoesEveryJobOnce) {
  std::vector<std::atomic<int>> done(20);
  JobQueue(
      done.size(), [&](std::size_t i) { ++done[i]; }, kSilent, kEndAll)
      .run(3);
  for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

TEST(JobQueue, ThrowsWhatAJobThrewAndStopsTheOthers) {
  std::latch both(2);
  std::atomic<bool> stopped = false;
  JobQueue queue(
      3,
      [&](std::size_t i) {
        both.arrive_and_wait();
        if (i == 0) throw Error("broken");
        while (!queue.stop()) std::this_thread::yield();
        stopped = true;
      },
      kSilent, kEndAll);
  EXPECT_THAT([&] { queue.run(2); }, testing::ThrowsMessage<Error>("broken"));
  EXPECT_TRUE(stopped);
}

TEST(JobQueue, GoesOnWithoutJobsThatFailed) {
  for (const std::int64_t parallel : {1, 3}) {
    std::vector<std::atomic<int>> tries(6);
    std::mutex mutex;
    std::vector<std::size_t> failed;
    JobQueue queue(
        tries.size(),
        [&](std::size_t i) {
          ++tries[i];
          if (i == 1) throw Error("broken");
          if (i == 4 && parallel == 1) throw DeviceMemoryError("full");
        },
        kSilent,
        [&](std::size_t i, const std::exception_ptr& why) {
          EXPECT_THROW(std::rethrow_exception(why), Error);
          const std::lock_guard lock(mutex);
          failed.push_back(i);
          return true;
        });
    queue.run(parallel);
    EXPECT_FALSE(queue.stop());
    for (const std::atomic<int>& times : tries) EXPECT_EQ(times, 1);
    EXPECT_EQ(failed,
              parallel == 1 ? (std::vector<std::size_t>{1, 4}) : std::vector<std::size_t>{1});
  }
}

TEST(JobQueue, FailsForMemoryOfAJobThatWasAlone) {
  int tries = 0;
  JobQueue queue(
      2,
      [&](std::size_t) {
        ++tries;
        throw DeviceMemoryError("full");
      },
      kSilent, kEndAll);
  EXPECT_THROW(queue.run(1), DeviceMemoryError);
  EXPECT_EQ(tries, 1);
}

TEST(JobQueue, LeavesAJobWithoutMemoryToThoseThatHaveSome) {
  std::latch both(2);
  std::latch given_up(1);
  std::atomic<int> tries = 0;
  std::vector<std::string> notes;
  JobQueue queue(
      2,
      [&](std::size_t i) {
        if (i == 0 && ++tries == 2) return;
        both.arrive_and_wait();
        if (i == 0) throw DeviceMemoryError("full");
        given_up.wait();
      },
      [&](const std::string& sentence) {
        notes.push_back(sentence);
        given_up.count_down();
      },
      kEndAll);
  queue.run(2);
  EXPECT_EQ(tries, 2);
  EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("full"), HasSubstr("with 1 side by side"))));
}

TEST(JobQueue, TriesAgainIfTheOthersEndWhileAJobUnwinds) {
  std::latch both(2);
  std::atomic<int> tries = 0;
  std::vector<std::string> notes;
  JobQueue queue(
      2,
      [&](std::size_t i) {
        if (i == 0 && ++tries == 2) return;
        both.arrive_and_wait();
        if (i == 1) return;
        // Enough for the other worker to find nothing left to do; if not, the test only says less.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        throw DeviceMemoryError("full");
      },
      [&](const std::string& sentence) { notes.push_back(sentence); }, kEndAll);
  queue.run(2);
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(notes.size(), 1);
}

}  // namespace
}  // namespace medley::cli
