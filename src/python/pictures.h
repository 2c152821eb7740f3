#pragma once

#include <pybind11/pybind11.h>

namespace medley::python {

/// Contact sheets, PNG, and drawn pictures.
void bind_pictures(pybind11::module_& module);

}  // namespace medley::python
