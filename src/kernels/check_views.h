#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/pixel.h"
#include "medley/mix.h"
#include "medley/types.h"

namespace medley {

// What every backend asks of its arguments; all throw InvalidArgument. Memory is not touched.

/// Bytes from the first to past the last value, none if that is more than can be addressed.
[[nodiscard]] std::optional<std::int64_t> extent_of(const ImageBatchView& view);

/// At least one value, aligned, rows contiguous, nothing overlapping itself, an end that can be
/// addressed.
void check_view(const char* name, const ImageBatchView& view);

/// The shape that a plan of `entries` outputs of `size` gives for input of `channels` channels.
void check_output(const ImageBatchView& out, std::int64_t entries, std::int32_t channels,
                  ImageSize size);

/// Images of the size of the plan, unless `options.windows` allows others.
void check_input_size(const ImageBatchView& in, ImageSize size, const MixOptions& options);

/// Whether the address ranges of two batches meet.
[[nodiscard]] bool overlap(const ImageBatchView& a, const ImageBatchView& b);

/// Normalization as one linear map per channel; empty if there is none.
[[nodiscard]] std::vector<Affine> affine_of(const Normalize& normalize, std::int32_t channels);
/// The same into memory that serves again.
void affine_of(const Normalize& normalize, std::int32_t channels, std::vector<Affine>& affine);

}  // namespace medley
