#pragma once

#include <functional>

#include <CLI/App.hpp>

namespace medley::cli {

// What the program returns to the shell.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;    ///< failed while running
inline constexpr int kUsage = 2;     ///< wrong usage
inline constexpr int kRejected = 3;  ///< ran, and the check said no

/// A verb of the program: its parser, and what to do once `app` has parsed. `run` returns an exit
/// code, or throws medley::Error.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

[[nodiscard]] Command add_plan(CLI::App& program);
[[nodiscard]] Command add_mix(CLI::App& program);
[[nodiscard]] Command add_info(CLI::App& program);
[[nodiscard]] Command add_demo(CLI::App& program);
[[nodiscard]] Command add_theory(CLI::App& program);

}  // namespace medley::cli
