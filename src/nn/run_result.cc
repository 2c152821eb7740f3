#include "nn/run_result.h"

#include <torch/version.h>

#include "medley/version.h"

namespace medley::nn {

std::string_view precision_of(const TrainOptions& options) {
  const Precision precision = options.device == Device::cpu ? Precision::f32 : options.precision;
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

RunResult result_of(const ImageData& data, const TrainOptions& options,
                    const std::vector<EpochMetrics>& metrics, const std::optional<Gpu>& gpu) {
  RunResult result;
  result.recipe = options.recipe;
  result.seed = options.seed;
  result.data = summary_of(data, options.data_name);
  result.versions = {kVersion, TORCH_VERSION, std::nullopt};
  result.metrics = metrics;
  result.precision = precision_of(options);
  if (gpu) {
    result.gpu = gpu->name;
    result.versions.cuda = gpu->cuda;
  }
  return result;
}

}  // namespace medley::nn
