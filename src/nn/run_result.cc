#include "nn/run_result.h"

#include <filesystem>
#include <system_error>

#include "medley/version.h"
#include "nn/libtorch.h"

namespace medley::nn {

namespace fs = std::filesystem;

std::string_view precision_of(const TrainOptions& options) {
  const Precision precision = options.device == Device::cpu ? Precision::f32 : options.precision;
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

train::RunResult result_of(const data::ImageData& data, const TrainOptions& options,
                           const std::vector<train::EpochMetrics>& metrics,
                           const std::optional<Gpu>& gpu) {
  train::RunResult result;
  result.recipe = options.recipe;
  result.seed = options.seed;
  result.data = train::summary_of(data, options.data_name);
  result.versions = {kVersion, libtorch().version, std::nullopt};
  result.metrics = metrics;
  result.precision = precision_of(options);
  if (gpu) {
    result.gpu = gpu->name;
    result.versions.cuda = gpu->cuda;
  }
  return result;
}

train::RunRecord record_of(const TrainOptions& options) {
  train::RunRecord record;
  record.seed = options.seed;
  record.data = options.data;
  if (!options.weights.empty()) record.weights = fs::absolute(options.weights).string();
  record.threads = options.threads;
  record.device = options.device == Device::cuda ? "cuda" : "cpu";
  record.precision = precision_of(options);
  record.deterministic = options.deterministic;
  record.version = kVersion;
  record.libtorch = libtorch().version;
  record.command = options.command;
  std::error_code problem;  // of a folder that was removed
  record.directory = fs::current_path(problem).string();
  return record;
}

}  // namespace medley::nn
