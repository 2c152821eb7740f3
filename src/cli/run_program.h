#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace medley::cli {

/// Adds a verb to the program.
using AddCommand = Command (*)(CLI::App& program);

/// A program of several verbs: parses, runs the verb, reports errors, and returns the exit code.
/// `elsewhere` names verbs that another program serves, for help and error texts.
struct VerbInfo {
  std::string name;
  std::string summary;
};
[[nodiscard]] int run_program(int argc, char** argv, std::span<const AddCommand> add,
                              std::span<const VerbInfo> elsewhere, const std::string& footer);

/// The words of the command line, once `run_program` has begun.
[[nodiscard]] const std::vector<std::string>& command_line();

}  // namespace medley::cli
