#include "nn/cuda/stream_lease.h"

#include <mutex>
#include <set>

#include "medley/error.h"

namespace medley::nn {
namespace {

constexpr int kPool = 32;  // streams of a priority

struct Leases {
  std::mutex mutex;
  std::set<cudaStream_t> taken;
};

Leases& leases() {
  static auto& all = *new Leases;  // engines may outlive other statics
  return all;
}

c10::cuda::CUDAStream take(bool high_priority) {
  Leases& all = leases();
  const std::lock_guard lock(all.mutex);
  for (int i = 0; i < kPool; ++i) {
    const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(high_priority);
    if (all.taken.insert(stream.stream()).second) return stream;
  }
  throw DeviceMemoryError("all streams of the GPU are taken: try fewer runs side by side");
}

}  // namespace

StreamLease::StreamLease(bool high_priority) : stream_(take(high_priority)) {}

StreamLease::~StreamLease() {
  Leases& all = leases();
  const std::lock_guard lock(all.mutex);
  all.taken.erase(stream_.stream());
}

}  // namespace medley::nn
