#include "core/check.h"

#include <cmath>

#include <fmt/format.h>

namespace medley {

void fail_argument(const std::string& message) { throw InvalidArgument(message); }

void fail_io(const std::string& message) { throw IoError(message); }

void fail_cuda(const std::string& message) { throw CudaError(message); }

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

}  // namespace medley
