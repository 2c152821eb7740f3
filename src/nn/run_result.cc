#include "nn/run_result.h"

#include <torch/version.h>

#include "medley/version.h"

namespace medley::nn {

RunResult result_of(const ImageData& data, const TrainOptions& options,
                    const std::vector<EpochMetrics>& metrics, const std::optional<Gpu>& gpu) {
  RunResult result;
  result.recipe = options.recipe;
  result.seed = options.seed;
  result.data = summary_of(data, options.data_name);
  result.versions = {kVersion, TORCH_VERSION, std::nullopt};
  result.metrics = metrics;
  const Precision precision = gpu ? options.precision : Precision::f32;
  result.precision = kPrecisionNames[static_cast<std::size_t>(precision)];
  if (gpu) {
    result.gpu = gpu->name;
    result.versions.cuda = gpu->cuda;
  }
  return result;
}

}  // namespace medley::nn
