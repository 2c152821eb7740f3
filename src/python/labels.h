#pragma once

#include <pybind11/pybind11.h>

#include "medley/labels.h"
#include "python/buffer.h"

namespace medley::python {

/// Classes and weights as arrays count x terms; `single` asks for float32 rather than float64.
[[nodiscard]] Buffer classes_buffer(const MixedLabels& labels);
[[nodiscard]] Buffer weights_buffer(const MixedLabels& labels, bool single);

void bind_labels(py::module_& module);

}  // namespace medley::python
