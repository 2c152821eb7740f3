#include <array>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/help_format.h"
#include "medley/error.h"
#include "medley/version.h"

namespace {

using medley::cli::Command;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley mix cat.png dog.png --method gmix --lam 0.65 -o mixed.png\n"
    "  medley plan --method hmix --batch 8 --height 32 --width 48 --seed 7 --json\n"
    "\n"
    "\"medley VERB --help\" explains a verb. Exit codes: 0 done, 1 failed while running,\n"
    "2 wrong usage, 3 ran and the check said no.";

/// What is wrong with the command line, in a sentence.
std::string explain(const CLI::App& program, const CLI::ParseError& problem) {
  std::string text = problem.what();
  const auto kind = static_cast<CLI::ExitCodes>(problem.get_exit_code());
  if (kind == CLI::ExitCodes::RequiredError && program.get_subcommands().empty()) {
    const std::vector<std::string> words = program.remaining();
    return words.empty()
               ? "a verb is needed: mix, plan, info, demo or theory"
               : fmt::format("there is no verb \"{}\", only mix, plan, info, demo and theory",
                             words.front());
  }
  if (kind == CLI::ExitCodes::ExtrasError) {
    return fmt::format("not expected here: {}", fmt::join(program.remaining(true), " "));
  }
  if (kind == CLI::ExitCodes::ArgumentMismatch) {
    const std::string option = text.substr(0, text.find(':'));
    return option + (text.ends_with("missing") ? " needs a value" : " was given more than once");
  }
  return text;
}

/// Answers --help and --version, or says what is wrong.
int finish_parse(const CLI::App& program, const CLI::ParseError& problem) {
  if (problem.get_name() == "CallForVersion") {
    medley::cli::print(std::string(problem.what()) + '\n');
    return medley::cli::kDone;
  }
  if (problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    medley::cli::print(program.help());
    return medley::cli::kDone;
  }
  medley::cli::print_error(explain(program, problem));
  const auto verbs = program.get_subcommands();
  const std::string verb = verbs.empty() ? "" : ' ' + verbs.front()->get_name();
  medley::cli::print_note(fmt::format("\"medley{} --help\" shows what is possible", verb), false);
  return medley::cli::kUsage;
}

int run(int argc, char** argv) {
  CLI::App program("Medley: mixed sample data augmentation for images", "medley");
  program.formatter(std::make_shared<medley::cli::HelpFormatter>());
  program.set_help_flag("-h,--help", "show this help");
  program.set_version_flag("--version", fmt::format("medley {}", medley::kVersion),
                           "show the version");
  program.require_subcommand(1);
  program.footer(kFooter);
  const std::array commands = {medley::cli::add_mix(program), medley::cli::add_plan(program),
                               medley::cli::add_info(program), medley::cli::add_demo(program),
                               medley::cli::add_theory(program)};
  for (const Command& command : commands) command.app->group("Verbs");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return finish_parse(program, problem);
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return medley::cli::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    medley::cli::prepare_streams();
    return run(argc, argv);
  } catch (const medley::InvalidArgument& problem) {
    medley::cli::print_error(problem.what());
    return medley::cli::kUsage;
  } catch (const std::bad_alloc&) {
    medley::cli::print_error("not enough memory for a job of this size");
  } catch (const std::exception& problem) {
    medley::cli::print_error(problem.what());
  }
  return medley::cli::kFailed;
}
