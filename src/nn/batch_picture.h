#pragma once

#include <string>
#include <vector>

#include <torch/torch.h>

#include "medley/data/image.h"
#include "medley/labels.h"

namespace medley::nn {

/// The first images of a normalized batch in a grid, each channel stretched over its range, with
/// the classes that their labels have and the weights of those; empty if one is too large for a
/// picture.
[[nodiscard]] data::Image batch_picture(const torch::Tensor& batch, const MixedLabels& labels,
                                        const std::vector<std::string>& classes);

}  // namespace medley::nn
