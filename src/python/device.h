#pragma once

#include <cstdint>
#include <span>

#include "medley/mix.h"
#include "python/plan.h"

namespace medley::python {

// Mixing arrays in CUDA memory, on the caller's stream (a cudaStream_t as a number). Need no GIL.
// In builds without CUDA they throw InvalidArgument.

void mix_on_device(const Plan& plan, const ImageBatchView& in, const MutableImageBatchView& out,
                   const MixOptions& options, Device device, std::int64_t stream);

/// `classes` and `weights` get count x label_terms values.
void mix_labels_on_device(const Plan& plan, std::span<const std::int64_t> labels,
                          std::span<std::int64_t> classes, std::span<float> weights, Device device,
                          std::int64_t stream);

/// Waits until the work on the stream of that device is done.
void synchronize(int device, std::int64_t stream);

}  // namespace medley::python
