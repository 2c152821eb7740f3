#include "core/check.h"

#include <cmath>

#include <fmt/format.h>

namespace medley {

std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors) noexcept {
  std::int64_t value = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(value, factor, &value)) return {};
  }
  return value;
}

double require_finite(const char* name, double value) {
  if (!std::isfinite(value)) fail_argument(fmt::format("{} must be finite, got {}", name, value));
  return value;
}

void require_positive(std::string_view name, double value) {
  if (!(std::isfinite(value) && value > 0)) {
    fail_argument(fmt::format("{} must be > 0, got {}", name, value));
  }
}

void require_between(std::string_view name, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    fail_argument(fmt::format("{} must be in [{}, {}], got {}", name, low, high, value));
  }
}

void check_threads(std::int64_t threads) {
  if (threads < 0 || threads > 4096) {
    fail_argument(fmt::format("threads must be in [0, 4096], got {}", threads));
  }
}

}  // namespace medley
