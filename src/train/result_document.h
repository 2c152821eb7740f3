#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "medley/train/result.h"

namespace medley::train {

/// The document with the table of every model rebuilt, between the lines
///
///     <!-- results: MODEL -->
///     <!-- /results -->
///
/// Throws IoError with `name` and the line if markers do not match, or a model has a table here
/// but no results, or the other way round.
[[nodiscard]] std::string with_tables(std::string_view document, const std::string& name,
                                      const std::vector<ResultTable>& tables);

/// The first line that is not the same; what is missing is empty.
struct LineDifference {
  std::int64_t line = 0;  ///< from 1
  std::string a;
  std::string b;
};
[[nodiscard]] std::optional<LineDifference> first_difference(std::string_view a,
                                                             std::string_view b);

}  // namespace medley::train
