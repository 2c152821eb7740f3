#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace medley::cli {

/// Jobs that share a device, several side by side.
class JobQueue {
 public:
  using Job = std::function<void(std::size_t)>;
  using Note = std::function<void(const std::string& sentence)>;
  /// Hears why a job failed, from the thread that did it; whether the others are to go on.
  using Failed = std::function<bool(std::size_t job, const std::exception_ptr& why)>;

  JobQueue(std::size_t jobs, Job job, Note note, Failed failed);

  /// Calls the job with every number below `jobs`, `parallel` of them side by side. One that throws
  /// DeviceMemoryError beside others is noted and done again, if they are still under way with
  /// fewer side by side. One that throws otherwise has failed; if the others are not to go on,
  /// throws what it threw, once they have ended.
  void run(std::int64_t parallel);

  /// Whether a job has failed so that the others are to end early.
  [[nodiscard]] const std::atomic<bool>& stop() const noexcept { return stop_; }

 private:
  struct Turn {
    std::size_t job;
    bool first;          // nothing else was under way
    std::int64_t start;  // a number of its own
  };

  void work();
  std::optional<Turn> take();
  void finish();
  [[nodiscard]] bool was_alone(const Turn& turn);
  [[nodiscard]] bool give_way(std::size_t job, const std::string& why);
  [[nodiscard]] bool fail(std::size_t job);

  Job job_;
  Note note_;
  Failed failed_;
  std::mutex mutex_;  // of what follows
  std::int64_t running_ = 0;
  std::int64_t starts_ = 0;
  std::deque<std::size_t> open_;
  std::exception_ptr problem_;
  std::atomic<bool> stop_ = false;
};

}  // namespace medley::cli
