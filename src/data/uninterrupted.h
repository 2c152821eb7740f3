#pragma once

#include <cerrno>

namespace medley::data {

/// Makes a system call again for as long as a signal interrupts it; returns what it returned. Not
/// for close(), which has given the descriptor back by then.
template <typename Call>
[[nodiscard]] auto uninterrupted(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace medley::data
