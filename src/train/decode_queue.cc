#include "train/decode_queue.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/parallel.h"
#include "medley/plan_edit.h"

namespace medley::train {

struct DecodeQueue::Job {
  std::uint64_t epoch;
  std::int64_t step;
  std::shared_ptr<DecodedBatch> batch = std::make_shared<DecodedBatch>();
  // Guarded by the queue's mutex:
  std::size_t begun = 0;
  std::size_t ended = 0;
  std::exception_ptr problem = nullptr;
  std::size_t problem_slot = 0;
};

DecodeQueue::DecodeQueue(const data::ImageFiles& files, bool exif, data::RandomCrop crop,
                         ImageSize size, std::uint64_t seed, int threads, int ahead)
    : files_(files),
      exif_(exif),
      crop_(crop),
      size_(size),
      seed_(seed),
      ahead_(static_cast<std::size_t>(ahead)) {
  const int count = threads > 0 ? threads : hardware_threads();
  // Fewer if the system gives no more: `take` works as well.
  try {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
  }
}

DecodeQueue::~DecodeQueue() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::shared_ptr<DecodeQueue::Job> DecodeQueue::start(std::uint64_t epoch, std::int64_t step,
                                                     const Plan& plan) const {
  auto job = std::make_shared<Job>();
  job->epoch = epoch;
  job->step = step;
  job->batch->plan = plan(epoch, step);
  job->batch->files = compact_sources(job->batch->plan);
  job->batch->pixels.resize(job->batch->files.size() *
                            static_cast<std::size_t>(3 * size_.pixels()));
  return job;
}

std::shared_ptr<const DecodedBatch> DecodeQueue::take(std::uint64_t epoch, std::int64_t step,
                                                      std::int64_t steps, const Plan& plan) {
  std::unique_lock lock(mutex_);
  if (!jobs_.empty() && (jobs_.front()->epoch != epoch || jobs_.front()->step != step)) {
    jobs_.clear();  // slots that are being decoded end unseen
  }
  while (jobs_.size() < ahead_ && step + std::ssize(jobs_) < steps) {
    const std::int64_t next = step + std::ssize(jobs_);
    lock.unlock();
    std::shared_ptr<Job> job = start(epoch, next, plan);
    lock.lock();
    jobs_.push_back(std::move(job));
    wanted_.notify_all();
  }
  const std::shared_ptr<Job> job = jobs_.front();
  const std::size_t slots = job->batch->files.size();
  while (threads_.empty() && job->begun < slots) decode_next(job, lock);
  done_.wait(lock, [&] { return job->ended == slots; });
  jobs_.pop_front();
  if (job->problem) std::rethrow_exception(job->problem);
  return job->batch;
}

void DecodeQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Job> job;
    wanted_.wait(lock, [&] {
      const auto open = std::ranges::find_if(
          jobs_, [](const auto& j) { return j->begun < j->batch->files.size(); });
      if (open != jobs_.end()) job = *open;
      return job != nullptr || ending_;
    });
    if (ending_) return;
    decode_next(job, lock);
  }
}

void DecodeQueue::decode_next(const std::shared_ptr<Job>& job, std::unique_lock<std::mutex>& lock) {
  const std::size_t slot = job->begun++;
  lock.unlock();
  std::exception_ptr problem;
  try {
    decode(*job, slot);
  } catch (...) {
    problem = std::current_exception();
  }
  lock.lock();
  if (problem && (!job->problem || slot < job->problem_slot)) {
    job->problem = problem;
    job->problem_slot = slot;
  }
  if (++job->ended == job->batch->files.size()) done_.notify_all();
}

void DecodeQueue::decode(Job& job, std::size_t slot) const {
  const auto values = static_cast<std::size_t>(3 * size_.pixels());
  const std::span<std::uint8_t> rgb = std::span(job.batch->pixels).subspan(slot * values, values);
  std::int64_t& file = job.batch->files[slot];
  for (std::int64_t i = 0; i < files_.count(); ++i) {
    const auto choose = [&](ImageSize whole) { return crop_.box(whole, seed_, job.epoch, file); };
    if (files_.read(file, choose, size_, rgb, exif_)) return;
    file = (file + 1) % files_.count();
  }
  fail_io(fmt::format("none of the {} training images can be decoded", files_.count()));
}

}  // namespace medley::train
