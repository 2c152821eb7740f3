#pragma once

#include <cstdint>

#include <pybind11/pybind11.h>

#include "medley/labels.h"

namespace medley::python {

class Array;

/// What PyTorch's losses leave out by default: the one negative label that is mixed.
inline constexpr std::int64_t kIgnored = -100;

/// Whether labels have the shape (N, 1), which is taken as (N,).
[[nodiscard]] bool is_column(const Array& labels) noexcept;

/// Mixed labels as an object that costs little to make; `read_label_terms` makes arrays of it.
[[nodiscard]] pybind11::object label_terms(MixedLabels labels);

void bind_labels(pybind11::module_& module);

}  // namespace medley::python
