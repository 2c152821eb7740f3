#pragma once

#include <cstdint>
#include <mutex>

#include <pybind11/pybind11.h>

namespace medley::python {

/// Which samples a call mixes.
struct Place {
  std::int64_t batch;
  std::int64_t first;
  std::uint64_t epoch;

  friend bool operator==(const Place&, const Place&) = default;
};

/// Where a mixer stands: it counts its calls within an epoch. Thread-safe.
class Counter {
 public:
  struct State {
    std::uint64_t epoch = 0;
    std::int64_t step = 0;
    std::int64_t batch = 0;  // the largest seen in the epoch
  };

  /// The place of a call on `count` samples; the next call comes after it.
  Place next(std::int64_t count);
  [[nodiscard]] State state() const;
  void set(const State& state);

 private:
  mutable std::mutex mutex_;
  State state_;
};

void bind_counter(pybind11::module_& module);

}  // namespace medley::python
