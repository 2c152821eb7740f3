#include "cli/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "medley/error.h"

namespace medley::cli {
namespace {

/// "42 GB", "0.5 GB"
std::string gigabytes(double bytes) {
  const double gb = bytes / 1e9;
  return gb < 10 ? fmt::format("{:.1f} GB", gb) : fmt::format("{:.0f} GB", gb);
}

}  // namespace

double memory_limit() {
  double free = std::numeric_limits<double>::infinity();
  std::ifstream lines("/proc/meminfo");
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kAvailable = "MemAvailable:";
    if (line.starts_with(kAvailable)) free = 1024 * std::strtod(&line[kAvailable.size()], nullptr);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return free;
  return std::min(free, static_cast<double>(limit.rlim_cur));
}

void require_memory(double bytes, std::string_view what) {
  const double most = memory_limit();
  if (bytes <= most) return;
  throw Error(fmt::format("{} need about {} of memory, and {} are free", what, gigabytes(bytes),
                          gigabytes(most)));
}

}  // namespace medley::cli
