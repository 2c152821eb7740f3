#pragma once

#include <pybind11/pybind11.h>

namespace medley::python {

/// Coefficients, two moons, designs and gradient products, as arrays.
void bind_theory(pybind11::module_& module);

}  // namespace medley::python
