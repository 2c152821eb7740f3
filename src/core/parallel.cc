#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

namespace medley {
namespace {

/// One parallel_for call. Shared with the workers, which may look at it after the call returned;
/// when they do no more, it serves another call.
struct Job {
  const std::function<void(std::int64_t)>* body = nullptr;
  std::int64_t count = 0;
  int helpers = 0;  // how many workers may still join; guarded by the pool's mutex
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> left{0};

  std::atomic<bool> failed{false};
  std::exception_ptr problem;  // the first one

  void start(std::int64_t items, int threads, const std::function<void(std::int64_t)>& work_on) {
    body = &work_on;
    count = items;
    helpers = threads - 1;
    next = 0;
    left = items;
    failed = false;
  }

  /// Takes items until none is left to take; true if it finished the last one.
  bool work() {
    std::int64_t done = 0;
    for (;;) {
      const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) break;
      try {
        (*body)(i);
      } catch (...) {
        if (!failed.exchange(true)) problem = std::current_exception();
      }
      ++done;
    }
    return done > 0 && left.fetch_sub(done, std::memory_order_acq_rel) == done;
  }
};

/// Workers that live as long as the program, started when first needed.
class Pool {
 public:
  void run(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
    std::shared_ptr<Job> job;
    {
      const std::lock_guard lock(mutex_);
      start_workers(threads - 1);
      job = idle_job();
      job->start(count, threads, body);
      jobs_.push_back(job);
    }
    // Not all: those that may not join would only stand in line for the lock.
    for (int i = 1; i < threads; ++i) wake_.notify_one();
    const bool last = job->work();
    std::unique_lock lock(mutex_);
    std::erase(jobs_, job);
    if (!last) {
      finished_.wait(lock, [&] { return job->left.load(std::memory_order_acquire) == 0; });
    }
    const std::exception_ptr problem = std::exchange(job->problem, nullptr);
    job.reset();
    lock.unlock();
    if (problem) std::rethrow_exception(problem);
  }

  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

 private:
  /// One that nobody looks at any more. Workers let go of theirs while they hold the lock.
  std::shared_ptr<Job> idle_job() {
    for (const std::shared_ptr<Job>& job : known_) {
      if (job.use_count() == 1) return job;
    }
    return known_.emplace_back(std::make_shared<Job>());
  }

  /// Fewer if the system gives no more: the caller works as well.
  void start_workers(int wanted) {
    try {
      while (static_cast<int>(workers_.size()) < wanted) {
        workers_.emplace_back([this] { serve(); });
      }
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      std::shared_ptr<Job> job;
      wake_.wait(lock, [&] {
        for (const auto& candidate : jobs_) {
          if (candidate->helpers > 0 && candidate->next.load() < candidate->count) {
            job = candidate;
            return true;
          }
        }
        return stop_;
      });
      if (!job) return;
      --job->helpers;
      lock.unlock();
      const bool last = job->work();
      lock.lock();
      if (last) finished_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable finished_;
  std::vector<std::shared_ptr<Job>> jobs_;   // that have items to hand out
  std::vector<std::shared_ptr<Job>> known_;  // and all others
  std::vector<std::thread> workers_;
  bool stop_ = false;
};

/// The pool of this process. fork() copies a pool without its threads, its locks held or waited on
/// as they happened to be, so a child leaves that copy alone and has a pool of its own.
Pool* process_pool = nullptr;

bool make_pool() {
  if (process_pool != nullptr) return true;
  process_pool = new Pool;
  pthread_atfork(nullptr, nullptr, [] { process_pool = new Pool; });
  std::atexit([] { delete process_pool; });
  return true;
}

// Made when the program starts, before there are threads: a fork in the middle of it would leave
// the child with half of it.
[[maybe_unused]] const bool kPoolMade = make_pool();

Pool& pool() {
  if (process_pool == nullptr) make_pool();  // called by the constructor of another static object
  return *process_pool;
}

}  // namespace

int hardware_threads() noexcept {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
  if (threads <= 0 && count > 1) threads = hardware_threads();  // asks the system
  threads = static_cast<int>(std::min<std::int64_t>({threads, count, 256}));
  if (threads <= 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  pool().run(count, threads, body);
}

}  // namespace medley
