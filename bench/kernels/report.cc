#include "kernels/report.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace medley::bench {

double rounded(double value) { return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr); }

void Report::add(const Timing& timing, int rounds) {
  const Spread time = spread_of(timing.seconds);
  const Spread share = spread_of(timing.share);
  benchmarks_.push_back(
      {{"name", timing.name},
       {"run_type", "iteration"},
       {"repetitions", rounds},
       {"iterations", timing.seconds.size()},
       {"real_time", rounded(1e3 * time.median)},
       {"cpu_time", rounded(1e3 * spread_of(timing.cpu_seconds).median)},
       {"time_unit", "ms"},
       {"real_time_quartiles", {rounded(1e3 * time.low), rounded(1e3 * time.high)}},
       {"bytes", timing.bytes},
       {"bytes_per_second", rounded(timing.rate())},
       {"copy_share", rounded(share.median)},
       {"copy_share_quartiles", {rounded(share.low), rounded(share.high)}}});
}

void Report::add_row(const std::string& table, nlohmann::ordered_json row) {
  tables_[table].push_back(std::move(row));
}

void Report::expect(const std::string& what, double measured, double target, bool at_least) {
  const bool met = at_least ? measured >= target : measured <= target;
  if (!met) ++missed_;
  targets_.push_back({{"what", what},
                      {"measured", rounded(measured)},
                      {at_least ? "at_least" : "at_most", target},
                      {"met", met}});
}

void Report::expect_at_least(const std::string& what, double measured, double target) {
  expect(what, measured, target, true);
}

void Report::expect_at_most(const std::string& what, double measured, double target) {
  expect(what, measured, target, false);
}

nlohmann::ordered_json Report::json() const {
  nlohmann::ordered_json all = tables_;
  all["targets"] = targets_;
  all["benchmarks"] = benchmarks_;
  return all;
}

std::string Report::target_table() const {
  std::string text;
  for (const auto& target : targets_) {
    const bool at_least = target.contains("at_least");
    text += fmt::format(
        "  {:<6} {:<70} {:>8.3g}   wanted {} {:.3g}\n",
        target["met"].get<bool>() ? "met" : "MISSED", target["what"].get<std::string>(),
        target["measured"].get<double>(),
        at_least ? ">=" : "<=", target[at_least ? "at_least" : "at_most"].get<double>());
  }
  return text;
}

}  // namespace medley::bench
