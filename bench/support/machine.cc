#include "support/machine.h"

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/cache_size.h"
#include "medley/mix.h"
#include "medley/version.h"

namespace medley::bench {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string slug(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {  // "(R)", "(TM)"
      const std::size_t end = text.find(')', i);
      if (end != std::string::npos) i = end;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (std::isalnum(c) != 0) {
      result += static_cast<char>(std::tolower(c));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result;
}

nlohmann::ordered_json load_average() {
  double loads[3] = {};
  if (getloadavg(loads, 3) != 3) return nullptr;
  return {loads[0], loads[1], loads[2]};
}

nlohmann::ordered_json describe_machine() {
  utsname system{};
  uname(&system);
  nlohmann::ordered_json machine;
  machine["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  machine["cpu"] = cpu_model();
  machine["cores"] = std::thread::hardware_concurrency();
  machine["l2_bytes"] = sysconf(_SC_LEVEL2_CACHE_SIZE);
  machine["l3_bytes"] = last_level_cache();
  machine["memory_bytes"] = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  machine["huge_pages"] = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  machine["system"] = fmt::format("{} {}", system.sysname, system.release);
  machine["compiler"] = MEDLEY_BENCH_COMPILER;
  machine["flags"] = MEDLEY_BENCH_FLAGS;
  machine["simd_target"] = simd_targets().front();
  machine["version"] = kVersion;
  return machine;
}

bool run_in_real_time() {
  sched_param parameter{};
  parameter.sched_priority = 1;
  return sched_setscheduler(0, SCHED_FIFO, &parameter) == 0;
}

}  // namespace medley::bench
