#pragma once

#include <cstdint>

namespace medley::cuda {

/// Which of `steps` batches: the index in device memory (null: 0) plus the offset, modulo their
/// number.
__device__ inline std::int64_t step_of(const std::int64_t* index, std::int64_t offset,
                                       std::int64_t steps) {
  const std::int64_t wanted = (index != nullptr ? __ldg(index) : 0) + offset;
  // 64-bit division is slow, and hardly ever needed.
  if (static_cast<std::uint64_t>(wanted) < static_cast<std::uint64_t>(steps)) return wanted;
  const std::int64_t rest = wanted % steps;
  return rest < 0 ? rest + steps : rest;
}

}  // namespace medley::cuda
