#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace medley::train {

/// One number of a curve.
struct ScalarEvent {
  std::string tag;
  std::int64_t step = 0;
  float value = 0;
  double wall_time = 0;  ///< seconds since 1970

  friend bool operator==(const ScalarEvent&, const ScalarEvent&) = default;
};

/// The content of a TensorBoard event file (records with masked CRC-32C, each a protocol buffer
/// `Event`).
[[nodiscard]] std::string encode_events(const std::vector<ScalarEvent>& events);

/// Reads what `encode_events` wrote, checking every checksum. Throws IoError with `name`.
[[nodiscard]] std::vector<ScalarEvent> decode_events(std::string_view bytes, std::string_view name);

}  // namespace medley::train
