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

/// Where a mixer stands: it counts its calls within an epoch. With several processes call k of
/// process `rank` has the place that call k * world_size + rank of one process would have.
/// Thread-safe.
class Counter {
 public:
  struct State {
    std::uint64_t epoch = 0;
    std::int64_t step = 0;
    std::int64_t batch = 0;  // the largest seen in the epoch

    friend bool operator==(const State&, const State&) = default;
  };
  /// A call that has taken its place.
  struct Turn {
    Place place;
    State before, after;
  };

  /// The turn of a call on `count` samples; the next call comes after it.
  Turn next(std::int64_t count);
  /// The call failed, so the next one has its place, unless others came after it.
  void give_back(const Turn& turn);
  [[nodiscard]] State state() const;
  void set(const State& state);
  /// Throws InvalidArgument unless 0 <= rank < world_size.
  void shard(std::int64_t rank, std::int64_t world_size);

 private:
  mutable std::mutex mutex_;
  State state_;
  std::int64_t rank_ = 0;
  std::int64_t world_size_ = 1;
};

void bind_counter(pybind11::module_& module);

}  // namespace medley::python
