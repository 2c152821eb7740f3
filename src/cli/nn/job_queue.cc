#include "cli/nn/job_queue.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "medley/error.h"

namespace medley::cli {

JobQueue::JobQueue(std::size_t jobs, Job job, Note note, Failed failed)
    : job_(std::move(job)), note_(std::move(note)), failed_(std::move(failed)) {
  for (std::size_t i = 0; i < jobs; ++i) open_.push_back(i);
}

void JobQueue::run(std::int64_t parallel) {
  std::vector<std::thread> workers;
  const std::int64_t count = std::min(parallel, std::ssize(open_));
  try {
    for (std::int64_t i = 1; i < count; ++i) workers.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    note_(fmt::format("the system has no more threads; goes on with {} side by side",
                      workers.size() + 1));
  }
  work();
  for (std::thread& worker : workers) worker.join();
  if (problem_) std::rethrow_exception(problem_);
}

void JobQueue::work() {
  while (const std::optional<Turn> turn = take()) {
    try {
      job_(turn->job);
      finish();
    } catch (const DeviceMemoryError& problem) {
      if (was_alone(*turn)) {
        if (!fail(turn->job)) return;
      } else if (give_way(turn->job, problem.what())) {
        return;
      }
    } catch (...) {
      if (!fail(turn->job)) return;
    }
  }
}

std::optional<JobQueue::Turn> JobQueue::take() {
  const std::lock_guard lock(mutex_);
  if (stop_ || open_.empty()) return {};
  const Turn turn{open_.front(), running_ == 0, ++starts_};
  open_.pop_front();
  ++running_;
  return turn;
}

void JobQueue::finish() {
  const std::lock_guard lock(mutex_);
  --running_;
}

/// From its start to its end; others may have ended while it unwound.
bool JobQueue::was_alone(const Turn& turn) {
  const std::lock_guard lock(mutex_);
  return turn.first && turn.start == starts_;
}

/// Puts a job back. True if others are under way, which will come to it.
bool JobQueue::give_way(std::size_t job, const std::string& why) {
  const std::lock_guard lock(mutex_);
  --running_;
  open_.push_front(job);
  note_(running_ > 0 ? fmt::format("{}; goes on with {} side by side", why, running_)
                     : fmt::format("{}; tries again", why));
  return running_ > 0;
}

/// Whether this thread is to take the next job.
bool JobQueue::fail(std::size_t job) {
  const std::exception_ptr why = std::current_exception();
  const bool go_on = failed_(job, why);
  const std::lock_guard lock(mutex_);
  --running_;
  if (go_on) return true;
  if (!problem_) problem_ = why;
  stop_ = true;
  return false;
}

}  // namespace medley::cli
