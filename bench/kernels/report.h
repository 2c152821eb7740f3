#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "support/rounds.h"

namespace medley::bench {

/// Collects what a run measured: the JSON file and the list of targets.
class Report {
 public:
  /// A line of "benchmarks", in the format of Google Benchmark's JSON plus our counters.
  void add(const Timing& timing, int rounds);

  /// A row of a table of the file: "methods", "versus_torch", …
  void add_row(const std::string& table, nlohmann::ordered_json row);

  /// A target and what was measured against it.
  void expect_at_least(const std::string& what, double measured, double target);
  void expect_at_most(const std::string& what, double measured, double target);

  [[nodiscard]] nlohmann::ordered_json json() const;
  [[nodiscard]] std::string target_table() const;
  [[nodiscard]] bool all_met() const { return missed_ == 0; }

 private:
  void expect(const std::string& what, double measured, double target, bool at_least);

  nlohmann::ordered_json benchmarks_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json tables_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json targets_ = nlohmann::ordered_json::array();
  int missed_ = 0;
};

/// Numbers to three significant digits are all that is worth keeping of a noisy measurement; files
/// keep five.
[[nodiscard]] double rounded(double value);

}  // namespace medley::bench
