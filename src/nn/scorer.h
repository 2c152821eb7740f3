#pragma once

#include <functional>
#include <span>

#include "medley/data/dataset.h"
#include "medley/train/loader.h"
#include "nn/model.h"

namespace medley::nn {

/// Number of the image that is i-th of `asked`, spread evenly over a set of `count`: one of every
/// count/asked, by chance, lest steps through the set meet some classes only.
[[nodiscard]] std::int64_t spread_number(std::int64_t i, std::int64_t asked, std::int64_t count);

/// What a network says of one image: its number in the set, its class, and the most likely classes,
/// five or all.
using SeeAnswer = std::function<void(std::int64_t number, std::int64_t truth,
                                     std::span<const std::int64_t> most_likely)>;

struct Accuracy {
  double top1 = 0;  // percent
  double top5 = 0;
  std::int64_t count = 0;  // of images
};

/// Runs the network on `count` images, spread evenly over the set, unmixed, in evaluation mode, and
/// puts it back into the mode it was in. The network is where `input` says, and takes that type.
[[nodiscard]] Accuracy score(Model& model, const data::ImageSet& images, std::int64_t count,
                             std::int64_t classes, const train::BatchLoader& loader,
                             const torch::TensorOptions& input = torch::kFloat32,
                             const SeeAnswer& see = {});

/// Room for a batch of f32 images, channels last.
[[nodiscard]] torch::Tensor empty_batch(const BatchShape& shape);

/// A tensor's memory as a batch of f32 images, channels first or last.
[[nodiscard]] MutableImageBatchView view_of(const torch::Tensor& batch);

}  // namespace medley::nn
