#pragma once

#include <cstdint>
#include <functional>

namespace medley {

/// Threads that 0 ("all cores") stands for.
[[nodiscard]] int hardware_threads() noexcept;

/// Calls body(i) for every i in [0, count), on up to `threads` threads (0: all cores) including the
/// caller's. Returns when all calls are done. Items are handed out one by one, so the order is not
/// defined. If calls throw, one of their exceptions is thrown in the end; which items were done is
/// not defined then. May be called from several threads at once.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body);

}  // namespace medley
