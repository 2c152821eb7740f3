#pragma once

#include <cstdint>
#include <vector>

#include <pybind11/pybind11.h>

#include "medley/random.h"

namespace medley::python {

namespace py = pybind11;

/// The random numbers of one draw, or of several at once: then arrays have an axis of the draws in
/// front, and what a draw gets does not depend on the others.
class Random {
 public:
  Random(std::vector<RandomStream> streams, bool several)
      : streams_(std::move(streams)), several_(several) {}

  [[nodiscard]] py::object uniform(const py::object& shape);
  [[nodiscard]] py::object normal(const py::object& shape);
  [[nodiscard]] py::object integers(const py::object& high, const py::object& shape);

 private:
  template <typename T, typename Next>
  [[nodiscard]] py::object filled(const py::object& shape, const Next& next);

  std::vector<RandomStream> streams_;
  bool several_;
};

void bind_random(py::module_& module);

}  // namespace medley::python
