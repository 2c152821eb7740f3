#include "cli/run_program.h"

#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "core/nearest_word.h"
#include "medley/error.h"
#include "medley/version.h"

namespace medley::cli {
namespace {

std::vector<std::string> words;  // of the command line

/// "mix, plan and info"
std::string verbs_of(const CLI::App& program, const char* last) {
  const auto verbs = program.get_subcommands([](const CLI::App*) { return true; });
  std::string text;
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    if (i > 0) text += i + 1 == verbs.size() ? fmt::format(" {} ", last) : ", ";
    text += verbs[i]->get_name();
  }
  return text;
}

/// The verb or topic that was understood last.
const CLI::App& last_understood(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

/// For arguments that nobody took: what the first of them may have been meant for.
std::string suggestion_for(const CLI::App& program, const std::vector<std::string>& arguments) {
  const CLI::App& app = last_understood(program);
  const std::string& first = arguments.front();
  std::vector<std::string> names;
  if (first.starts_with("--")) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* topic : app.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(topic->get_name());
    }
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return suggestion(first.substr(0, first.find('=')), views);
}

/// What is wrong with the command line, in a sentence.
std::string explain(const CLI::App& program, const CLI::ParseError& problem) {
  std::string text = problem.what();
  const auto kind = static_cast<CLI::ExitCodes>(problem.get_exit_code());
  if (kind == CLI::ExitCodes::RequiredError && program.get_subcommands().empty()) {
    const std::vector<std::string> rest = program.remaining();
    if (rest.empty()) return fmt::format("a verb is needed: {}", verbs_of(program, "or"));
    const std::string near = suggestion_for(program, rest);
    return fmt::format("there is no verb \"{}\"{}", rest.front(),
                       near.empty() ? ", only " + verbs_of(program, "and") : near);
  }
  if (kind == CLI::ExitCodes::ExtrasError) {
    const std::vector<std::string> rest = program.remaining(true);
    return fmt::format("not expected here: {}{}", fmt::join(rest, " "),
                       suggestion_for(program, rest));
  }
  if (kind == CLI::ExitCodes::ArgumentMismatch) {
    const std::string option = text.substr(0, text.find(':'));
    return option + (text.ends_with("missing") ? " needs a value" : " was given more than once");
  }
  return text;
}

/// The last verb or topic of the command line that was understood, with those above it: "medley
/// theory coefficients".
std::string understood(const CLI::App& program) {
  std::string verbs = program.get_name();
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    verbs += ' ' + app->get_name();
  }
  return verbs;
}

/// The first option without a value after its "=", for which CLI11 would take the next argument.
std::string_view option_without_value(std::span<char*> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") break;
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) return argument;
  }
  return {};
}

/// Answers --help and --version, or says what is wrong.
int finish_parse(const CLI::App& program, const CLI::ParseError& problem) {
  if (problem.get_name() == "CallForVersion") {
    print(std::string(problem.what()) + '\n');
    return kDone;
  }
  if (problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    print(program.help());
    return kDone;
  }
  print_error(explain(program, problem));
  print_note(fmt::format("\"{} --help\" shows what is possible", understood(program)), false);
  return kUsage;
}

int run(int argc, char** argv, std::span<const AddCommand> add, std::span<const VerbInfo> elsewhere,
        const std::string& footer) {
  CLI::App program("Medley: mixed sample data augmentation for images", "medley");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_help_flag("-h,--help", "show this help");
  program.set_version_flag("--version", fmt::format("medley {}", kVersion), "show the version");
  program.require_subcommand(1);
  program.footer(footer);
  std::vector<Command> commands;
  for (const AddCommand& add_one : add) commands.push_back(add_one(program));
  for (const VerbInfo& verb : elsewhere) {
    program.add_subcommand(verb.name, verb.summary)->group("Verbs");
  }
  for (const Command& command : commands) command.app->group("Verbs");
  const std::string_view empty = option_without_value({argv, static_cast<std::size_t>(argc)});
  if (!empty.empty()) {
    print_error(fmt::format("{} has no value; write one after the =", empty));
    return kUsage;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return finish_parse(program, problem);
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kUsage;
}

}  // namespace

int run_program(int argc, char** argv, std::span<const AddCommand> add,
                std::span<const VerbInfo> elsewhere, const std::string& footer) {
  words.assign(argv, argv + argc);
  try {
    prepare_streams();
    const int code = run(argc, argv, add, elsewhere, footer);
    if (code == kDone) end_like_broken_pipe();
    return code;
  } catch (const InvalidArgument& problem) {
    print_error(problem.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    print_error("not enough memory for a job of this size");
  } catch (const std::exception& problem) {
    print_error(problem.what());
  }
  return kFailed;
}

const std::vector<std::string>& command_line() { return words; }

}  // namespace medley::cli
