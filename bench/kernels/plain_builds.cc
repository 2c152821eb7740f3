#include <vector>

#include "kernels/plain_loop.h"

namespace medley::bench {

void plain_loop_baseline(const PlainBatch& batch, std::int64_t begin, std::int64_t end);
void plain_loop_native(const PlainBatch& batch, std::int64_t begin, std::int64_t end);
#if defined(__x86_64__)
void plain_loop_avx2(const PlainBatch& batch, std::int64_t begin, std::int64_t end);
void plain_loop_avx512(const PlainBatch& batch, std::int64_t begin, std::int64_t end);
#endif

std::span<const PlainBuild> plain_builds() {
  static const std::vector<PlainBuild> builds = [] {
    std::vector<PlainBuild> found = {{"baseline", plain_loop_baseline}};
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      found.push_back({"AVX2", plain_loop_avx2});
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      found.push_back({"AVX-512", plain_loop_avx512});
    }
#endif
    found.push_back({"native", plain_loop_native});
    return found;
  }();
  return builds;
}

PlainLoop plain_build(std::string_view name) {
  for (const PlainBuild& build : plain_builds()) {
    if (build.name == name) return build.loop;
  }
  return plain_builds().front().loop;
}

}  // namespace medley::bench
