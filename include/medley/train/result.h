#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/train/recipe.h"
#include "medley/train/run_folder.h"

namespace medley::train {

/// What a run was trained on, without a path of the machine.
struct DataSummary {
  std::string name;  ///< "cifar100", "folder", …; may be empty
  std::int64_t train = 0;
  std::int64_t test = 0;
  std::int64_t classes = 0;
  std::string hash;  ///< fingerprint of the training set

  friend bool operator==(const DataSummary&, const DataSummary&) = default;
};

[[nodiscard]] DataSummary summary_of(const data::ImageData& data, std::string name);

struct RunVersions {
  std::string medley;
  std::string libtorch;
  std::optional<std::string> cuda = {};  ///< none on a CPU

  friend bool operator==(const RunVersions&, const RunVersions&) = default;
};

/// All that is worth keeping of a finished run, apart from its weights.
struct RunResult {
  Recipe recipe;  ///< as it was resolved; has the model and the method
  std::uint64_t seed = 0;
  DataSummary data;
  std::optional<std::string> gpu = {};        ///< its name; none on a CPU
  std::optional<std::string> precision = {};  ///< of convolutions: "bf16", …; not always known
  std::optional<std::string> weights = {};    ///< hash of the file that it started from, if any
  /// Of its weights.safetensors; older versions did not say it.
  std::optional<std::string> weights_hash = {};
  RunVersions versions;
  /// Epochs that it had at first, if it went on to more: learning rates follow one schedule, then
  /// the other.
  std::optional<std::int64_t> lengthened_from = {};
  std::vector<EpochMetrics> metrics;  ///< of all epochs

  [[nodiscard]] const std::string& model() const noexcept { return recipe.model; }
  [[nodiscard]] const std::string& method() const noexcept { return recipe.mix.method.info().name; }
  [[nodiscard]] double seconds() const noexcept;  ///< of all epochs
};

/// One object with the schema "medley.result/1", a line per epoch. Wall times are left out.
[[nodiscard]] std::string to_json(const RunResult& result);

/// Reads a result, strictly: every field, no other, values that can be, all epochs of the recipe.
/// Throws IoError with `name` and the field.
[[nodiscard]] RunResult result_from_json(std::string_view text, const std::string& name);

/// A result in a file. Throw IoError.
[[nodiscard]] RunResult read_result(const std::filesystem::path& file);
void write_result(const std::filesystem::path& file, const RunResult& result);

/// The result.json of a run's folder; none if the run is not finished: without the file, or with
/// one of another recipe than recipe.json, where that is. Throws as `read_result` and
/// `read_recorded_recipe`.
[[nodiscard]] std::optional<RunResult> finished_result(const std::filesystem::path& folder);

}  // namespace medley::train
