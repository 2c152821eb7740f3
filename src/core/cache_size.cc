#include "core/cache_size.h"

#include <fstream>

#include <unistd.h>

namespace medley {
namespace {

std::int64_t ask_last_level_cache() {
  // sysconf adds up the caches of all groups of an AMD processor, so the kernel comes first.
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::int64_t kib = 0;
  if (file >> kib && file.get() == 'K' && kib > 0) return kib << 10;
  const std::int64_t size = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return size > 0 ? size : std::int64_t{8} << 20;
}

}  // namespace

std::int64_t last_level_cache() {
  static const std::int64_t size = ask_last_level_cache();
  return size;
}

}  // namespace medley
