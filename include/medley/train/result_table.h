#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "medley/train/result.h"

namespace medley::train {

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

struct ResultFile {
  std::filesystem::path path;
  RunResult result;
};

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

enum class TableFormat : std::uint8_t { text, csv, markdown };

/// Markdown of one table, without a heading.
[[nodiscard]] std::string to_markdown(const ResultTable& table);
[[nodiscard]] std::string to_text(const std::vector<ResultTable>& tables, TableFormat format);
/// One object with the schema "medley.results/1", on one line.
[[nodiscard]] std::string to_json(const std::vector<ResultTable>& tables);

}  // namespace medley::train
