#include "kernels/cuda/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace medley::cuda {
namespace {

/// Pinned memory that a copy may still be reading.
struct Staging {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  cudaEvent_t copied = nullptr;  // an event of that device
};

Staging new_staging(std::size_t bytes, int device) {
  constexpr std::size_t kLeast = std::size_t{1} << 16;
  Staging staging{nullptr, std::max(bytes, kLeast), device, nullptr};
  void* memory = nullptr;
  MEDLEY_CUDA_CHECK(cudaHostAlloc(&memory, staging.bytes, cudaHostAllocDefault));
  staging.memory = static_cast<std::byte*>(memory);
  const cudaError_t problem = cudaEventCreateWithFlags(&staging.copied, cudaEventDisableTiming);
  if (problem != cudaSuccess) (void)cudaFreeHost(memory);
  MEDLEY_CUDA_CHECK(problem);
  return staging;
}

/// Pieces that are not in the middle of being filled. Never freed, since nothing can be once CUDA
/// has shut down.
class StagingPool {
 public:
  [[nodiscard]] Staging take(std::size_t bytes, int device) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = free_.begin(); it != free_.end(); ++it) {
        if (it->device != device || it->bytes < bytes) continue;
        if (cudaEventQuery(it->copied) != cudaSuccess) continue;
        const Staging found = *it;
        free_.erase(it);
        return found;
      }
    }
    (void)cudaGetLastError();  // of events that are not reached
    return new_staging(bytes, device);
  }
  void give_back(const Staging& staging) {
    const std::lock_guard lock(mutex_);
    free_.push_back(staging);
  }

 private:
  std::mutex mutex_;
  std::vector<Staging> free_;
};

StagingPool& staging_pool() {
  static auto& pool = *new StagingPool;
  return pool;
}

}  // namespace

cudaMemPool_t plan_pool() {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  int device = 0;
  MEDLEY_CUDA_CHECK(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  const auto found = pools.find(device);
  if (found != pools.end()) return found->second;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  MEDLEY_CUDA_CHECK(cudaMemPoolCreate(&pool, &properties));
  std::uint64_t kept = UINT64_MAX;
  MEDLEY_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  pools[device] = pool;
  return pool;
}

void copy_parts(std::span<const std::span<const std::byte>> parts, std::byte* to,
                cudaStream_t stream) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += padded(part.size());
  if (bytes == 0) return;
  int device = 0;
  MEDLEY_CUDA_CHECK(cudaGetDevice(&device));
  const Staging staging = staging_pool().take(bytes, device);
  std::byte* place = staging.memory;
  for (const auto& part : parts) {
    if (!part.empty()) std::memcpy(place, part.data(), part.size());
    place += padded(part.size());
  }
  cudaError_t problem = cudaMemcpyAsync(to, staging.memory, bytes, cudaMemcpyHostToDevice, stream);
  if (problem == cudaSuccess) problem = cudaEventRecord(staging.copied, stream);
  staging_pool().give_back(staging);
  MEDLEY_CUDA_CHECK(problem);
}

}  // namespace medley::cuda
