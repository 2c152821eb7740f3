#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/nn/trainer.h"

namespace medley::nn {

/// How well a network knows a set of images.
struct Evaluation {
  std::int64_t count = 0;
  double top1 = 0;  ///< percent
  double top5 = 0;
  std::int64_t classes = 0;
  /// Images by true class (rows) and class that was predicted (columns).
  std::vector<std::int64_t> confusion;
  /// The class that was predicted for each image; -1 for those that could not be decoded.
  std::vector<std::int64_t> predicted;
};

/// Evaluates what a checkpoint (its averaged weights, where it has them) or a weights.safetensors
/// beside its recipe.json holds, on the test images, in f32; training images are not looked at.
/// Throws IoError, InvalidArgument.
[[nodiscard]] Evaluation evaluate_file(const std::filesystem::path& file,
                                       const data::ImageData& data, int threads,
                                       Device device = Device::cpu);

/// What two networks make of the same images.
struct Comparison {
  std::int64_t both = 0;  ///< images that both get right
  std::int64_t neither = 0;
  std::vector<std::int64_t> gained;  ///< images that only the first gets right
  std::vector<std::int64_t> lost;    ///< images that only the second gets right
};

/// `labels` are those of the images that both evaluations saw.
[[nodiscard]] Comparison compare(const Evaluation& first, const Evaluation& second,
                                 std::span<const std::int64_t> labels);

}  // namespace medley::nn
