#pragma once

#include <cstdint>
#include <filesystem>
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
};

/// Evaluates what a checkpoint (its averaged weights, where it has them) or a weights.safetensors
/// beside its recipe.json holds, on the test images, in f32. Throws IoError, InvalidArgument.
[[nodiscard]] Evaluation evaluate_file(const std::filesystem::path& file, const ImageData& data,
                                       int threads, Device device = Device::cpu);

}  // namespace medley::nn
