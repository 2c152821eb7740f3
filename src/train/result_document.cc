#include "train/result_document.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"

namespace medley::train {
namespace {

constexpr std::string_view kBegin = "<!-- results: ";
constexpr std::string_view kBeginTail = " -->";
constexpr std::string_view kEnd = "<!-- /results -->";

/// Takes a line off the text, without its newline.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// The model whose table begins with this line.
std::optional<std::string> model_of(std::string_view line) {
  if (!line.starts_with(kBegin) || !line.ends_with(kBeginTail)) return std::nullopt;
  line.remove_prefix(kBegin.size());
  line.remove_suffix(std::min(kBeginTail.size(), line.size()));
  return std::string(line);
}

/// Leaves out the lines of a table, up to its end marker; returns how many they were.
std::int64_t skip_table(std::string_view& rest, const std::string& where) {
  for (std::int64_t lines = 1; !rest.empty(); ++lines) {
    const std::string_view line = next_line(rest);
    if (line == kEnd) return lines;
    if (model_of(line)) break;
  }
  fail_io(fmt::format("{}: this table has no end, a line {}", where, kEnd));
}

}  // namespace

std::string with_tables(std::string_view document, const std::string& name,
                        const std::vector<ResultTable>& tables) {
  if (document.find("\r\n") != std::string_view::npos) {
    fail_io(fmt::format("{} has lines that end with CRLF, expected LF alone", name));
  }
  std::string text;
  std::vector<std::string> seen;
  std::int64_t number = 0;
  for (std::string_view rest = document; !rest.empty();) {
    const std::string_view line = next_line(rest);
    const std::string where = fmt::format("{}:{}", name, ++number);
    if (line == kEnd) fail_io(fmt::format("{}: no table begins before this end", where));
    text.append(line);
    if (!rest.empty() || document.ends_with('\n')) text += '\n';
    const std::optional<std::string> model = model_of(line);
    if (!model) continue;
    number += skip_table(rest, where);
    const auto table = std::ranges::find(tables, *model, &ResultTable::model);
    if (table == tables.end()) fail_io(fmt::format("{}: no results of {}", where, *model));
    text += fmt::format("\n{}\n{}\n", to_markdown(*table), kEnd);
    seen.push_back(*model);
  }
  for (const ResultTable& table : tables) {
    if (std::ranges::find(seen, table.model) == seen.end()) {
      fail_io(fmt::format("{} has no table of {}: add the lines \"{}{}{}\" and \"{}\"", name,
                          table.model, kBegin, table.model, kBeginTail, kEnd));
    }
  }
  return text;
}

std::optional<LineDifference> first_difference(std::string_view a, std::string_view b) {
  for (std::int64_t line = 1; !a.empty() || !b.empty(); ++line) {
    const bool both = !a.empty() && !b.empty();
    const std::string_view x = next_line(a);
    const std::string_view y = next_line(b);
    if (!both || x != y) return LineDifference{line, std::string(x), std::string(y)};
  }
  return std::nullopt;
}

}  // namespace medley::train
