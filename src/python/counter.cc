#include "python/counter.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "medley/error.h"
#include "medley/random.h"

namespace medley::python {

namespace py = pybind11;

Counter::Turn Counter::next(std::int64_t count) {
  const std::lock_guard lock(mutex_);
  const State before = state_;
  const std::int64_t batch = std::max(state_.batch, count);
  const std::int64_t steps =
      static_cast<std::int64_t>(kMaxOrdinal) / std::max<std::int64_t>(batch, 1);
  if (steps < rank_ || state_.step > (steps - rank_) / world_size_) {
    throw InvalidArgument(
        fmt::format("an epoch has at most {} samples, so no step {} of {} samples", kMaxOrdinal,
                    state_.step, batch));
  }
  state_.batch = batch;
  const std::int64_t call = state_.step++ * world_size_ + rank_;
  return {{batch, call * batch, state_.epoch}, before, state_};
}

void Counter::give_back(const Turn& turn) {
  const std::lock_guard lock(mutex_);
  if (state_ == turn.after) state_ = turn.before;
}

Counter::State Counter::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Counter::set(const State& state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

void Counter::shard(std::int64_t rank, std::int64_t world_size) {
  constexpr std::int64_t kMaxWorldSize = std::int64_t{1} << 31;
  if (world_size < 1 || world_size > kMaxWorldSize) {
    throw InvalidArgument(
        fmt::format("world_size must be in [1, {}], got {}", kMaxWorldSize, world_size));
  }
  if (rank < 0 || rank >= world_size) {
    throw InvalidArgument(fmt::format("rank must be in [0, {}), got {}", world_size, rank));
  }
  const std::lock_guard lock(mutex_);
  rank_ = rank;
  world_size_ = world_size;
}

void bind_counter(py::module_& module) {
  py::class_<Counter> type(module, "Counter");
  py::class_<Counter::Turn>(type, "Turn")
      .def_property_readonly("place", [](const Counter::Turn& turn) {
        return py::make_tuple(turn.place.batch, turn.place.first, turn.place.epoch);
      });
  type.def(py::init<>())
      .def("next", &Counter::next, py::arg("count"), "The turn of a call on `count` samples.")
      .def("give_back", &Counter::give_back, py::arg("turn"), "The call of that turn failed.")
      .def("state",
           [](const Counter& counter) {
             const Counter::State state = counter.state();
             return py::make_tuple(state.epoch, state.step, state.batch);
           })
      .def(
          "set",
          [](Counter& counter, std::uint64_t epoch, std::int64_t step, std::int64_t batch) {
            counter.set({epoch, step, batch});
          },
          py::arg("epoch"), py::arg("step"), py::arg("batch"))
      .def("shard", &Counter::shard, py::arg("rank"), py::arg("world_size"));
}

}  // namespace medley::python
