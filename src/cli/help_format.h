#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace medley::cli {

/// Help in two columns, wrapped to the width of the terminal: "--ratio R   share of ... (default:
/// 0.5)". The value's name is the option's type name, the default its default string.
class HelpFormatter : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_usage(const CLI::App* app, std::string name) const override;
  [[nodiscard]] std::string make_group(std::string group, bool is_positional,
                                       std::vector<const CLI::Option*> options) const override;
  [[nodiscard]] std::string make_positionals(const CLI::App* app) const override;
  [[nodiscard]] std::string make_option(const CLI::Option* option,
                                        bool is_positional) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* sub) const override;
  /// Commands that are too long go on behind a backslash, as a shell reads them.
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
};

/// Gives the verb its help flag, listed last, in the group "Output". To be called after all other
/// options were added.
void add_help(CLI::App& app);

/// `text` broken at spaces into lines of at most `width` characters; lines after the first start
/// with `indent` spaces, which do not count. Words that are too long are broken behind a comma.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

/// Columns for help and tables: those of the terminal that standard output goes to, within reason.
[[nodiscard]] std::size_t text_columns();

}  // namespace medley::cli
