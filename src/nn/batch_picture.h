#pragma once

#include <torch/torch.h>

#include "medley/data/image.h"

namespace medley::nn {

/// The first images of a normalised batch as a grid, each channel stretched over its range; empty
/// if they are too large for a picture.
[[nodiscard]] Image batch_picture(const torch::Tensor& batch);

}  // namespace medley::nn
