#pragma once

#include <numeric>
#include <span>

namespace medley {

/// Mean of a field.
[[nodiscard]] inline double field_mean(std::span<const float> field) noexcept {
  return std::accumulate(field.begin(), field.end(), 0.0) / static_cast<double>(field.size());
}

}  // namespace medley
