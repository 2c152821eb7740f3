#pragma once

#include <pybind11/pybind11.h>

namespace medley::python {

/// A whole call of a mixer in one: what a training loop does each step.
void bind_step(pybind11::module_& module);

}  // namespace medley::python
