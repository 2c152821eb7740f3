#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace medley::report::html {

/// The text with &, <, > and quotes as entities.
[[nodiscard]] std::string escaped(std::string_view text);

/// A whole page: title, style sheet (light and dark) and `body`, which is HTML.
[[nodiscard]] std::string page(std::string_view title, std::string_view body);

/// A heading and what follows it, which is HTML.
[[nodiscard]] std::string section(std::string_view heading, std::string_view content);

/// A paragraph of HTML.
[[nodiscard]] std::string paragraph(std::string_view content);

/// How much of a tall picture is shown.
enum class Height { whole, scrolled };

/// A picture that links to itself, with a caption of plain text.
[[nodiscard]] std::string picture(std::string_view path, std::string_view caption,
                                  Height height = Height::whole);

/// A table of HTML cells. The first column is text, the others are numbers.
[[nodiscard]] std::string table(const std::vector<std::string>& head,
                                const std::vector<std::vector<std::string>>& rows);

/// A share of 100 percent as a bar with its value.
struct Bar {
  std::string series;  ///< "train" or "test": chooses the color
  double percent = 0;
};

/// Bars under each other for each name.
struct BarGroup {
  std::string name;
  std::vector<Bar> bars;
};

/// Bars of several groups on one scale from 0 to 100 %, with a legend.
[[nodiscard]] std::string bars(const std::vector<BarGroup>& groups,
                               const std::vector<std::pair<std::string, std::string>>& legend);

}  // namespace medley::report::html
