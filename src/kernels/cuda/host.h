#pragma once

#include "medley/mix.h"
#include "medley/plan.h"
#include "medley/types.h"

namespace medley::cuda {

/// As medley::mix for images in host memory: copies them to the current device, mixes there and
/// copies the result back. Arguments have been checked. Throws CudaError if there is no device or
/// too little memory on it.
void mix_host_images(const MixPlan& plan, const ImageBatchView& in,
                     const MutableImageBatchView& out, const MixOptions& options);

/// Whether a device can be used and has room for that many bytes.
[[nodiscard]] bool device_has_room(std::size_t bytes) noexcept;

}  // namespace medley::cuda
