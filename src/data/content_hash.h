#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace medley::data {

/// Sixteen digits that tell contents apart (XXH3): not against malice.
[[nodiscard]] std::string content_hash(std::span<const std::uint8_t> bytes);

}  // namespace medley::data
