#include "python/counter.h"

#include <algorithm>

namespace medley::python {

namespace py = pybind11;

Place Counter::next(std::int64_t count) {
  const std::lock_guard lock(mutex_);
  state_.batch = std::max(state_.batch, count);
  return {state_.batch, state_.step++ * state_.batch, state_.epoch};
}

Counter::State Counter::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Counter::set(const State& state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

void bind_counter(py::module_& module) {
  py::class_<Counter>(module, "Counter")
      .def(py::init<>())
      .def(
          "next",
          [](Counter& counter, std::int64_t count) {
            const Place place = counter.next(count);
            return py::make_tuple(place.batch, place.first, place.epoch);
          },
          py::arg("count"), "(batch, first, epoch) of a call on `count` samples.")
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
          py::arg("epoch"), py::arg("step"), py::arg("batch"));
}

}  // namespace medley::python
