#include "kernels/cuda/memory.h"

#include <cstdint>
#include <map>
#include <mutex>

namespace medley::cuda {

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

}  // namespace medley::cuda
