#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace medley::bench {

/// Something to be timed.
struct Contender {
  std::string name;  // BM_Mix/hmix/cpu/f32/128x3x224x224
  std::function<void()> run;
  double bytes = 0;    // that one run must move: each needed input byte and each output byte once
  double rest_ms = 0;  // pause after a run, for threads that go on spinning
  int repeat = 1;      // runs per sample, for runs of microseconds
  std::function<void()> prepare = {};  // untimed, before each sample of `best_of`
  bool once = false;  // for `best_of`: one run a sample, since it has to be prepared for each
};

/// Samples of one contender, one per round; all contenders of a measurement share the rounds.
struct Timing {
  std::string name;
  double bytes = 0;
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;  // of all threads
  std::vector<double> share;  // rate in bytes per second over that of the yardstick, same round

  [[nodiscard]] double rate() const;  // bytes per second at the median
};

struct Spread {
  double median = 0;
  double low = 0;  // quartiles
  double high = 0;
};

[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Seconds of `slow` over seconds of `fast`, round by round.
[[nodiscard]] Spread speedup(const Timing& fast, const Timing& slow);

/// Times all contenders once per round, each right after the yardstick: noise that lasts longer
/// than a few milliseconds hits both and leaves their ratio alone. One round before the first warms
/// up and is not counted.
[[nodiscard]] std::vector<Timing> measure(std::span<const Contender> contenders,
                                          const Contender& yardstick, int rounds);

/// The shortest time of a run of each contender, in seconds. In every round all take turns, in
/// another order, each after an untimed run of its own: caches are as it leaves them. `repeat` is
/// chosen here.
[[nodiscard]] std::vector<double> best_of(std::span<const Contender> contenders, int rounds);

}  // namespace medley::bench
