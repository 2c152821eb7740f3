#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pybind11/pybind11.h>

#include "medley/types.h"

namespace medley::python {

namespace py = pybind11;

// Values of arguments, which errors call `name`; py::type_error for another type. Whole numbers far
// outside every allowed range become the nearest one that the type has: the library names the
// range.

[[nodiscard]] std::string type_name(py::handle value);
/// NumPy's scalars and 0-d tensors too, but no text.
[[nodiscard]] double real(std::string_view name, py::handle value);
[[nodiscard]] std::int64_t whole(std::string_view name, py::handle value);
[[nodiscard]] std::int32_t integer(std::string_view name, py::handle value);
[[nodiscard]] std::uint64_t epoch_from(py::handle value);
[[nodiscard]] bool boolean(std::string_view name, py::handle value);
[[nodiscard]] std::string word(std::string_view name, py::handle value);

/// Height and width from (H, W) or one whole number.
[[nodiscard]] ImageSize size_from(py::handle object);

/// "nchw" or "nhwc"; None, which pybind11 hands over as null, is refused like other words.
[[nodiscard]] Layout layout_from(const char* text);

}  // namespace medley::python
