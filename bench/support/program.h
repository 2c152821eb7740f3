#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace medley::bench {

/// Writes what was measured to `out`: a file, or a folder for STEM-PROCESSOR.json.
void write_results(const std::string& out, const std::string& stem,
                   const nlohmann::ordered_json& results);

/// A program that measures in rounds, with --out, --commit and --rounds.
struct Program {
  std::string title;
  std::string stem;  ///< of its file, and in its schema: "theory" for medley.bench_theory/1
  /// Returns the results. May add to the context.
  std::function<nlohmann::ordered_json(int rounds, nlohmann::ordered_json& context)> measure;
};

/// What such a program returns.
[[nodiscard]] int run_program(const Program& program, int argc, char** argv);

}  // namespace medley::bench
