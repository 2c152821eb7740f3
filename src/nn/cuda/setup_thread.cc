#include "nn/cuda/setup_thread.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include <ATen/ThreadLocalState.h>
#include <c10/cuda/CUDAGuard.h>

namespace medley::nn {
namespace {

class SetupThread {
 public:
  SetupThread() {
    std::thread thread([this] { serve(); });
    id_ = thread.get_id();
    thread.detach();
  }

  void run(const std::function<void()>& work) {
    if (std::this_thread::get_id() == id_) return work();
    std::packaged_task<void()> task(
        [&work, modes = at::ThreadLocalState(), stream = c10::cuda::getCurrentCUDAStream()] {
          const at::ThreadLocalStateGuard in_modes(modes);
          const c10::cuda::CUDAStreamGuard on_stream(stream);
          work();
        });
    std::future<void> done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    given_.notify_one();
    done.get();
  }

 private:
  [[noreturn]] void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [this] { return !tasks_.empty(); });
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<std::packaged_task<void()>> tasks_;
  std::thread::id id_;
};

}  // namespace

void on_setup_thread(const std::function<void()>& work) {
  // Never destroyed: it may be waiting for tasks when the process ends.
  static auto* const thread = new SetupThread();
  thread->run(work);
}

}  // namespace medley::nn
