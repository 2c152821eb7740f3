#include "core/check.h"

#include <cmath>

#include <fmt/format.h>

namespace medley {

void fail_argument(const std::string& message) { throw InvalidArgument(message); }

void fail_io(const std::string& message) { throw IoError(message); }

void fail_cuda(const std::string& message) { throw CudaError(message); }

double require_finite(const char* name, double value) {
  if (!std::isfinite(value)) fail_argument(fmt::format("{} must be finite, got {}", name, value));
  return value;
}

}  // namespace medley
