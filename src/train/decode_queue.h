#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "medley/data/image.h"
#include "medley/plan.h"

namespace medley::train {

/// A batch whose images have been decoded. The plan's indices count from its own first image.
struct DecodedBatch {
  MixPlan plan;
  std::vector<std::int64_t> files;   ///< where each image came from
  std::vector<std::uint8_t> pixels;  ///< interleaved RGB
};

/// Decodes the files of coming batches in threads of its own, fewer than asked for (down to none)
/// where the system gives no more. At most `ahead` batches are held, the
/// one that is asked for included.
class DecodeQueue {
 public:
  using Plan = std::function<MixPlan(std::uint64_t epoch, std::int64_t step)>;

  DecodeQueue(const data::ImageFiles& files, bool exif, data::RandomCrop crop, ImageSize size,
              std::uint64_t seed, int threads, int ahead);
  ~DecodeQueue();
  DecodeQueue(const DecodeQueue&) = delete;
  DecodeQueue& operator=(const DecodeQueue&) = delete;

  /// Batch `step` of `steps` in an epoch; starts on those after it. `plan` makes their plans, over
  /// the numbers of the files. A file that is broken and skipped gives way to the next one. Throws
  /// what decoding threw.
  [[nodiscard]] std::shared_ptr<const DecodedBatch> take(std::uint64_t epoch, std::int64_t step,
                                                         std::int64_t steps, const Plan& plan);

 private:
  struct Job;

  [[nodiscard]] std::shared_ptr<Job> start(std::uint64_t epoch, std::int64_t step,
                                           const Plan& plan) const;
  void work();
  /// Decodes a slot of the job that nobody has begun, without the lock.
  void decode_next(const std::shared_ptr<Job>& job, std::unique_lock<std::mutex>& lock);
  void decode(Job& job, std::size_t slot) const;

  const data::ImageFiles& files_;
  bool exif_;
  data::RandomCrop crop_;
  ImageSize size_;
  std::uint64_t seed_;
  std::size_t ahead_;
  std::mutex mutex_;
  std::condition_variable wanted_;  // a slot to decode, or the end
  std::condition_variable done_;    // a batch is complete
  std::deque<std::shared_ptr<Job>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace medley::train
