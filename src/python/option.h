#pragma once

#include <vector>

#include <pybind11/pybind11.h>

#include "medley/options.h"

namespace medley::python {

namespace py = pybind11;

/// A value for an option; py::type_error for one of another type. Range and names are left to
/// `set_option`.
[[nodiscard]] OptionValue option_from(const OptionSpec& spec, py::handle value);

/// None for no value, and for masks and designs, which do not come back.
[[nodiscard]] py::object option_to_python(const OptionValue& value);

/// The specs as a dict by name, in their order.
[[nodiscard]] py::dict describe_options(const std::vector<OptionSpec>& specs);

}  // namespace medley::python
