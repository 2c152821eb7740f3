#pragma once

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "medley/error.h"

/// For our own bugs, never for wrong calls.
#define MEDLEY_DCHECK(condition) assert(condition)

namespace medley {

// The only places where core, plan, kernels and theory throw (fail.cc): a build without exceptions
// has fail_absent.cc instead.

[[noreturn]] void fail_argument(const std::string& message);
[[noreturn]] void fail_io(const std::string& message);
[[noreturn]] void fail_cuda(const std::string& message);

/// The product of numbers that are not negative, or none if it is too large for its type.
std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors) noexcept;

/// Refuses NaN and infinity: "alpha must be finite, got nan".
double require_finite(const char* name, double value);
/// "lr must be > 0, got -1"; infinity is refused too.
void require_positive(std::string_view name, double value);
/// "ratio must be in [0, 1], got 2"
void require_between(std::string_view name, double value, double low, double high);
/// "threads must be in [0, 4096], got -1"; 0 stands for all cores.
void check_threads(std::int64_t threads);

}  // namespace medley
