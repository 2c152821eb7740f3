#pragma once

#include "medley/data/dataset.h"
#include "medley/train/loader.h"
#include "medley/train/recipe.h"

namespace medley::nn {

/// Refuses a last batch of one image if the network shrinks that to one pixel: batch norms cannot
/// learn from it. Throws InvalidArgument with batches that leave more.
void check_last_batch(const data::ImageData& data, const train::Recipe& recipe,
                      const train::BatchLoader& loader);

}  // namespace medley::nn
