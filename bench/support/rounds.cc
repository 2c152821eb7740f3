#include "support/rounds.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

namespace medley::bench {
namespace {

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Sample {
  double seconds;
  double cpu_seconds;
};

Sample time_once(const Contender& contender) {
  using Clock = std::chrono::steady_clock;
  const double cpu_begin = cpu_now();
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < contender.repeat; ++i) contender.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const double cpu_seconds = cpu_now() - cpu_begin;
  // Under a real-time scheduler a process that never sleeps is stopped now and then.
  constexpr double kIdleShare = 0.15;
  std::this_thread::sleep_for(
      std::chrono::duration<double>(kIdleShare * seconds + 1e-3 * contender.rest_ms));
  return {seconds / contender.repeat, cpu_seconds / contender.repeat};
}

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

}  // namespace

double Timing::rate() const { return bytes / spread_of(seconds).median; }

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75)};
}

Spread speedup(const Timing& fast, const Timing& slow) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(fast.seconds.size(), slow.seconds.size()); ++i) {
    ratios.push_back(slow.seconds[i] / fast.seconds[i]);
  }
  return spread_of(std::move(ratios));
}

std::vector<Timing> measure(std::span<const Contender> contenders, const Contender& yardstick,
                            int rounds) {
  std::vector<Timing> timings;
  for (const Contender& contender : contenders) {
    timings.push_back({contender.name, contender.bytes, {}, {}, {}});
  }
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const Sample standard = time_once(yardstick);
      const Sample sample = time_once(contenders[i]);
      if (round < 0) continue;
      timings[i].seconds.push_back(sample.seconds);
      timings[i].cpu_seconds.push_back(sample.cpu_seconds);
      timings[i].share.push_back((contenders[i].bytes / sample.seconds) /
                                 (yardstick.bytes / standard.seconds));
    }
  }
  return timings;
}

std::vector<double> best_of(std::span<const Contender> contenders, int rounds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kSampleSeconds = 3e-4;
  constexpr double kMostRuns = 1000;
  std::vector<double> best(contenders.size(), HUGE_VAL);
  const auto time = [&](const Contender& contender, int runs) {
    if (contender.prepare) contender.prepare();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < runs; ++i) contender.run();
    return std::chrono::duration<double>(Clock::now() - begin).count() / runs;
  };
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::size_t i = (k + static_cast<std::size_t>(round)) % contenders.size();
      const double warm = time(contenders[i], 1);
      const int runs = contenders[i].once
                           ? 1
                           : static_cast<int>(std::clamp(kSampleSeconds / warm, 1.0, kMostRuns));
      best[i] = std::min(best[i], time(contenders[i], runs));
    }
  }
  return best;
}

}  // namespace medley::bench
