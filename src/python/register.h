#pragma once

#include <pybind11/pybind11.h>

namespace medley::python {

namespace py = pybind11;

/// Methods whose masks a Python function makes.
void bind_register(py::module_& module);

}  // namespace medley::python
