#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

namespace medley {

/// How much a JSON text may hold.
struct JsonLimits {
  std::size_t depth = 64;                     ///< objects and arrays within each other
  std::size_t keys = 4096;                    ///< in one object
  std::size_t memory = std::size_t{1} << 30;  ///< bytes that its values take
};

/// Which error a broken text is.
enum class JsonError : std::uint8_t { argument, io };

/// Parses a JSON text. A key that is twice in one object is refused, and so is all that exceeds the
/// limits, at the place where it does, before memory is taken for it; time grows with the length of
/// the text (times the logarithm of the keys in one object). Throws InvalidArgument or IoError with
/// `name`, line and column, in which bytes are counted.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view name,
                                        JsonError error, const JsonLimits& limits = {});

}  // namespace medley
