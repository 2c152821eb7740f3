#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include "medley/policy.h"

namespace medley::python {

namespace py = pybind11;

/// The policy that keyword arguments describe. Strict: an option that the method does not have, or
/// a value of the wrong type, is a py::type_error; a wrong word or number is an InvalidArgument.
/// None leaves the default.
[[nodiscard]] MixPolicy make_policy(const std::string& method, const py::dict& options);

void bind_policy(py::module_& module);

}  // namespace medley::python
