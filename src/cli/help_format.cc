#include "cli/help_format.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "cli/console.h"

namespace medley::cli {
namespace {

// Longer lines are hard to follow, shorter ones leave nothing beside the names.
constexpr std::size_t kMostColumns = 100;
constexpr std::size_t kLeastColumns = 60;
constexpr std::size_t kNameWidth = 28;

std::string two_columns(const std::string& name, const std::string& description) {
  const std::string text = wrap(description, text_columns() - kNameWidth, kNameWidth);
  if (name.size() + 4 > kNameWidth) {
    return fmt::format("  {}\n{:{}}{}\n", name, "", kNameWidth, text);
  }
  return fmt::format("  {:{}}{}\n", name, kNameWidth - 2, text);
}

/// A sentence, or, behind spaces, a command.
std::string footer_line(const std::string& line) {
  const std::size_t columns = text_columns();
  if (line.size() <= columns) return line;
  if (!line.starts_with(' ')) return wrap(line, columns, 0);
  constexpr std::string_view kGoesOn = " \\";
  const std::size_t space = line.rfind(' ', columns - kGoesOn.size());
  return fmt::format("{}{}\n      {}", line.substr(0, space), kGoesOn, line.substr(space + 1));
}

}  // namespace

void add_help(CLI::App& app) { app.set_help_flag("-h,--help", "show this help")->group("Output"); }

std::size_t text_columns() {
  return std::clamp(terminal_columns(stdout), kLeastColumns, kMostColumns);
}

std::string wrap(const std::string& text, std::size_t width, std::size_t indent) {
  std::istringstream words(text);
  std::string out;
  std::string word;
  std::size_t column = 0;
  while (words >> word) {
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = 0;
    }
    while (column + word.size() > width) {
      const std::size_t comma = word.rfind(',', width - 1);
      if (comma == std::string::npos || comma + 1 == word.size()) break;
      out += word.substr(0, comma + 1) + '\n' + std::string(indent, ' ');
      word.erase(0, comma + 1);
    }
    if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string full = app->get_parent() != nullptr ? app->get_name() : name;
  for (const CLI::App* up = app->get_parent(); up != nullptr; up = up->get_parent()) {
    full.insert(0, up->get_name() + ' ');
  }
  std::string out = fmt::format("\nUsage: {}", full.empty() ? app->get_name() : full);
  if (!app->get_subcommands({}).empty()) out += app->get_parent() == nullptr ? " VERB" : " TOPIC";
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) out += ' ' + make_option_usage(option);
  }
  return out + " [OPTIONS]\n\n";
}

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  std::string out = group + ":\n";
  for (const CLI::Option* option : options) out += make_option(option, is_positional);
  return out;
}

std::string HelpFormatter::make_positionals(const CLI::App* app) const {
  std::string out;
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) out += make_option(option, true);
  }
  return out.empty() ? out : "Input:\n" + out + '\n';
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  if (!is_positional && option->get_type_size() != 0 && !option->get_type_name().empty()) {
    name += ' ' + option->get_type_name();
  }
  std::string description = option->get_description();
  if (!option->get_default_str().empty()) {
    description += fmt::format(" (default: {})", option->get_default_str());
  }
  return two_columns(name, description);
}

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  return two_columns(sub->get_name(), sub->get_description());
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::istringstream lines(app->get_footer());
  std::string out;
  for (std::string line; std::getline(lines, line);) out += footer_line(line) + '\n';
  return out;
}

}  // namespace medley::cli
