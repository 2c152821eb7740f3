#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "medley/policy.h"

namespace medley::python {

namespace py = pybind11;

/// The policy that keyword arguments describe. Names and words are those of the command line, with
/// `_` for `-`. Strict: an option that the method does not use, or a value of the wrong type, is a
/// py::type_error; a wrong word is an InvalidArgument. None leaves the default.
[[nodiscard]] MixPolicy make_policy(const std::string& method, const py::dict& options);

/// Options that every method takes.
[[nodiscard]] const std::vector<std::string_view>& common_options();

void bind_policy(py::module_& module);

}  // namespace medley::python
