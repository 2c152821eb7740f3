#pragma once

#include <cstdint>

#include <pybind11/pybind11.h>

#include "medley/mix.h"
#include "python/images.h"
#include "python/plan.h"

namespace medley::python {

/// Throws InvalidArgument if one is in host memory and the other is not.
void check_same_device(const Images& in, const Images& out);

/// Mixes where the input is; `out` is on the same device. Needs no GIL.
void mix_arrays(const Plan& plan, const Images& in, const MutableImageBatchView& out,
                const MixOptions& options, std::int64_t stream);

void bind_mix(py::module_& module);

}  // namespace medley::python
