#pragma once

#if !MEDLEY_NO_THREADS
#include <mutex>
#endif

namespace medley {

#if MEDLEY_NO_THREADS
/// Nobody to keep out.
class Mutex {
 public:
  void lock() noexcept {}
  void unlock() noexcept {}
};

class Lock {
 public:
  explicit Lock(Mutex& /*mutex*/) noexcept {}
};
#else
using Mutex = std::mutex;
using Lock = std::lock_guard<std::mutex>;
#endif

}  // namespace medley
