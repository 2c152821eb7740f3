#pragma once

#include <memory>

#include <pybind11/pybind11.h>

#include "medley/gaussian_design.h"

namespace medley::python {

namespace py = pybind11;

/// The design in a Python `Design` object; throws py::type_error for anything else.
[[nodiscard]] std::shared_ptr<const GaussianDesign> design_of(py::handle object);

void bind_design(py::module_& module);

}  // namespace medley::python
