#pragma once

#include "cli/command.h"

namespace medley::cli {

[[nodiscard]] Command add_train(CLI::App& program);
[[nodiscard]] Command add_eval(CLI::App& program);
[[nodiscard]] Command add_sweep(CLI::App& program);
[[nodiscard]] Command add_results(CLI::App& program);
[[nodiscard]] Command add_libtorch(CLI::App& program);

}  // namespace medley::cli
