#pragma once

#include <pybind11/pybind11.h>

#include "medley/labels.h"

namespace medley::python {

/// Mixed labels as an object that costs little to make; `read_label_terms` makes arrays of it.
[[nodiscard]] pybind11::object label_terms(MixedLabels labels);

void bind_labels(pybind11::module_& module);

}  // namespace medley::python
