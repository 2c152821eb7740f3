#pragma once

#include <vector>

#include "cli/command.h"

namespace medley::cli {

/// A verb that consists of topics: runs the one that was named, and refuses to run without.
[[nodiscard]] Command choose_topic(CLI::App* verb, std::vector<Command> topics);

}  // namespace medley::cli
