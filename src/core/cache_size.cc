#include "core/cache_size.h"

#include <cstdio>
#include <memory>

#include <unistd.h>

namespace medley {
namespace {

std::int64_t ask_last_level_cache() {
  // sysconf adds up the caches of all groups of an AMD processor, so the kernel comes first.
  // No stream: a Python process may hold several copies of the C++ library, and their locales
  // clash.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re"), &std::fclose);
  long kib = 0;
  char unit = 0;
  if (file && std::fscanf(file.get(), "%ld%c", &kib, &unit) == 2 && unit == 'K' && kib > 0) {
    return std::int64_t{kib} << 10;
  }
  const std::int64_t size = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return size > 0 ? size : std::int64_t{8} << 20;
}

}  // namespace

std::int64_t last_level_cache() {
  static const std::int64_t size = ask_last_level_cache();
  return size;
}

}  // namespace medley
