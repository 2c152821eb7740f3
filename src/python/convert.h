#pragma once

#include <pybind11/pybind11.h>

#include "medley/types.h"

namespace medley::python {

namespace py = pybind11;

/// Height and width from (H, W) or one whole number.
[[nodiscard]] ImageSize size_from(py::handle object);

/// "nchw" or "nhwc"; None, which pybind11 hands over as null, is refused like other words.
[[nodiscard]] Layout layout_from(const char* text);

}  // namespace medley::python
