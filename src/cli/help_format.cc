#include "cli/help_format.h"

#include <sstream>

#include <fmt/format.h>

namespace medley::cli {
namespace {

constexpr std::size_t kLineWidth = 96;
constexpr std::size_t kNameWidth = 30;

std::string two_columns(const std::string& name, const std::string& description) {
  const std::string text = wrap(description, kLineWidth - kNameWidth, kNameWidth);
  if (name.size() + 4 > kNameWidth) {
    return fmt::format("  {}\n{:{}}{}\n", name, "", kNameWidth, text);
  }
  return fmt::format("  {:{}}{}\n", name, kNameWidth - 2, text);
}

}  // namespace

void add_help(CLI::App& app) { app.set_help_flag("-h,--help", "show this help")->group("Output"); }

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

}  // namespace medley::cli
