#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "medley/data/dataset.h"
#include "medley/train/recipe.h"

namespace medley::train {

/// Which data a run reads: the options of the command line.
struct DataChoice {
  std::string source;  ///< "cifar100:/data/cifar", as `open_data` takes it; empty if not known
  std::optional<std::int64_t> train_images = {};  ///< of `--train-images`; none: all
  std::optional<std::int64_t> test_images = {};
  bool skip_broken = false;

  friend bool operator==(const DataChoice&, const DataChoice&) = default;
};

/// Its options as the command line has them; `source` is "data" there.
[[nodiscard]] const std::vector<OptionSpec>& data_options();

/// "cifar100:/data/cifar --train-images 300"
[[nodiscard]] std::string to_text(const DataChoice& data);

/// What becomes of a run that the folder of a new one holds already.
enum class ExistingRun : std::uint8_t { refuse, resume, overwrite };

/// Accuracies of a network, in percent.
struct Score {
  double test_top1 = 0;
  double test_top5 = 0;
  double clean_train_top1 = 0;  ///< on unmixed training images
  std::optional<double> ema_test_top1 = {};

  friend bool operator==(const Score&, const Score&) = default;
};

/// What is known after an epoch.
struct EpochMetrics {
  std::int64_t epoch = 0;  ///< from 1
  double lr = 0;           ///< of the last step
  double train_loss = 0;
  std::optional<Score> score = {};  ///< of every `Recipe::eval_every`th epoch, and of the last
  double seconds = 0;
  double images_per_s = 0;
  double wall_time = 0;  ///< seconds since 1970

  friend bool operator==(const EpochMetrics&, const EpochMetrics&) = default;
};

/// The lines of a metrics.jsonl. Throws IoError with file and line.
[[nodiscard]] std::vector<EpochMetrics> read_metrics(const std::filesystem::path& file);

/// What a run was trained on, without a path of the machine.
struct DataSummary {
  std::string name;  ///< "cifar100", "folder", …; may be empty
  std::int64_t train = 0;
  std::int64_t test = 0;
  std::int64_t classes = 0;
  std::string hash;  ///< fingerprint of the training set

  friend bool operator==(const DataSummary&, const DataSummary&) = default;
};

/// Of data that are called `name`.
[[nodiscard]] DataSummary summary_of(const data::ImageData& data, std::string name);

/// Versions of what a run was made with.
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

  /// Name of the network, and of the method.
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

/// Epochs at the end of a run over which the reported accuracy is the median.
inline constexpr std::int64_t kMedianEpochs = 10;
/// A mean further from the paper's than this, in points, is marked.
inline constexpr double kFarFromPaper = 0.8;

/// Mean and sample standard deviation; none of one value.
struct Spread {
  double mean = 0;
  std::optional<double> deviation = {};
};
/// Of at least one value.
[[nodiscard]] Spread spread_of(std::span<const double> values);
/// "76.73 ± 0.21", or "76.73" of one value.
[[nodiscard]] std::string to_text(const Spread& spread);

/// Median test accuracy of those of the last epochs that have a score, as the very last has.
[[nodiscard]] double median_of_last(const RunResult& result, std::int64_t epochs = kMedianEpochs);

/// A point of a curve of accuracies.
struct EpochAccuracy {
  std::int64_t epoch = 0;  ///< from 1
  double test_top1 = 0;    ///< percent

  friend bool operator==(const EpochAccuracy&, const EpochAccuracy&) = default;
};
/// Test accuracy after every epoch of which all runs have a score, the mean over them.
[[nodiscard]] std::vector<EpochAccuracy> mean_accuracy(
    const std::vector<std::vector<EpochMetrics>>& runs);

/// The methods that the paper compares, in its order.
[[nodiscard]] std::span<const std::string_view> paper_methods() noexcept;

/// The paper's CIFAR-100 accuracy (mean of three runs), where it has that cell.
[[nodiscard]] std::optional<double> paper_accuracy(std::string_view model, std::string_view method);

/// A result and where it is from.
struct ResultFile {
  std::filesystem::path path;
  RunResult result;
};

/// What was found in files and folders.
struct ResultFiles {
  std::vector<ResultFile> results;
  std::vector<std::filesystem::path> unfinished;  ///< folders of runs without `finished_result`
};

/// Reads result files; of a folder its result.json if it is that of a run, else its *.json and the
/// runs that are folders in it. Throws IoError, also if there is no result.
[[nodiscard]] ResultFiles read_results(std::span<const std::filesystem::path> files_and_folders);

/// What the seeds of a method gave, in percent.
struct ResultRow {
  std::string method;
  std::vector<std::uint64_t> seeds;
  Spread median;
  Spread last;
  std::optional<double> paper = {};
  std::vector<EpochAccuracy> curve = {};

  /// From the paper's mean, to the hundredth.
  [[nodiscard]] std::optional<double> difference() const;
  /// Whether that is more than kFarFromPaper.
  [[nodiscard]] bool far_from_paper() const;
};

/// The methods of one model. The paper's column is filled for cifar100 under cifar100-paper at its
/// full length.
struct ResultTable {
  std::string model;
  std::string data;
  std::vector<ResultRow> rows;
};

/// Models in the order of the paper, then by name; methods in that of the registry. Throws
/// InvalidArgument if a run is there twice, a model has runs on different data, or a method runs
/// under different recipes.
[[nodiscard]] std::vector<ResultTable> tabulate(const std::vector<ResultFile>& files);

/// How tables are written.
enum class TableFormat : std::uint8_t { text, csv, markdown };

/// Markdown of one table, without a heading.
[[nodiscard]] std::string to_markdown(const ResultTable& table);
/// All tables; in Markdown each with a heading.
[[nodiscard]] std::string to_text(const std::vector<ResultTable>& tables, TableFormat format);
/// One object with the schema "medley.results/1", on one line.
[[nodiscard]] std::string to_json(const std::vector<ResultTable>& tables);

}  // namespace medley::train
