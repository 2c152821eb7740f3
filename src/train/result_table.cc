#include "medley/train/result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/check.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kPaperRecipe = "cifar100-paper";
constexpr std::string_view kPaperData = "cifar100";

// Park, Yun, Chun 2022, CIFAR-100 classification.
constexpr std::array<std::string_view, 6> kPaperMethods = {"none",       "mixup", "cutmix",
                                                           "stochastic", "hmix",  "gmix"};
struct PaperRow {
  std::string_view model;
  std::array<double, kPaperMethods.size()> accuracy;
};
constexpr std::array<PaperRow, 5> kPaper = {{
    {"resnet56", {73.23, 73.12, 74.83, 74.88, 74.99, 75.75}},
    {"wrn28-2", {73.50, 74.05, 74.79, 75.49, 75.68, 76.15}},
    {"preactresnet18", {76.73, 77.21, 78.66, 79.25, 79.25, 79.17}},
    {"preactresnet34", {77.68, 79.02, 80.05, 81.05, 81.07, 80.52}},
    {"preactresnet50", {79.07, 79.34, 81.23, 81.21, 81.38, 81.45}},
}};

double hundredths(double value) { return std::round(value * 100); }

// ---- files ----

/// Whether the folder is that of a run.
bool read_run(const fs::path& folder, ResultFiles& found) {
  if (std::optional<RunResult> result = finished_result(folder)) {
    found.results.push_back({folder / "result.json", *std::move(result)});
    return true;
  }
  if (!fs::exists(folder / "recipe.json")) return false;
  found.unfinished.push_back(folder);
  return true;
}

void read_folder(const fs::path& folder, ResultFiles& found) {
  if (read_run(folder, found)) return;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  for (const fs::path& path : entries) {
    if (fs::is_directory(path)) {
      read_run(path, found);
    } else if (path.extension() == ".json") {
      found.results.push_back({path, read_result(path)});
    }
  }
}

// ---- groups ----

/// Position in a list of names, past its end for others, which follow by name.
template <typename Names>
std::pair<std::size_t, std::string> rank_in(const Names& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  return {static_cast<std::size_t>(at - names.begin()), name};
}

std::vector<std::string_view> method_order() {
  std::vector<std::string_view> names;
  for (const MethodInfo* method : methods()) names.push_back(method->name);
  return names;
}

void check_same_data(const ResultFile& a, const ResultFile& b) {
  if (a.result.data == b.result.data) return;
  const auto text = [](const DataSummary& data) {
    return fmt::format("{} {} with {} test images", data.name, data.hash, data.test);
  };
  fail_argument(fmt::format("{} and {} have results of {} on different data ({}; {})",
                            a.path.string(), b.path.string(), a.result.model(), text(a.result.data),
                            text(b.result.data)));
}

void check_same_cell(const ResultFile& a, const ResultFile& b) {
  const auto refuse = [&](const char* what, const std::string& which = "") {
    fail_argument(fmt::format("{} and {} {} {} {}{}", a.path.string(), b.path.string(), what,
                              a.result.model(), a.result.method(), which));
  };
  const std::vector<RecipeDifference> other = differences(a.result.recipe, b.result.recipe);
  if (!other.empty()) {
    const auto& [field, of_a, of_b] = other.front();
    refuse("have different recipes for", fmt::format(" ({} {} and {})", field, of_a, of_b));
  }
  if (a.result.weights != b.result.weights) refuse("start from different weights for");
  if (a.result.seed == b.result.seed) refuse("are of the same seed of");
}

using Cell = std::vector<const ResultFile*>;

std::optional<double> paper_of(const RunResult& r) {
  const bool same = r.data.name == kPaperData && r.recipe.name == kPaperRecipe &&
                    r.recipe.epochs == find_recipe(std::string(kPaperRecipe)).epochs;
  return same ? paper_accuracy(r.model(), r.method()) : std::nullopt;
}

ResultRow row_of(Cell cell) {
  std::ranges::sort(cell, {}, [](const ResultFile* f) { return f->result.seed; });
  ResultRow row{cell.front()->result.method(), {}, {}, {}, paper_of(cell.front()->result)};
  std::vector<double> medians;
  std::vector<double> lasts;
  std::vector<std::vector<EpochMetrics>> runs;
  for (const ResultFile* file : cell) {
    row.seeds.push_back(file->result.seed);
    medians.push_back(median_of_last(file->result));
    lasts.push_back(median_of_last(file->result, 1));
    runs.push_back(file->result.metrics);
  }
  row.median = spread_of(medians);
  row.last = spread_of(lasts);
  row.curve = mean_accuracy(runs);
  return row;
}

// ---- tables ----

using Cells = std::vector<std::string>;

Cells heading() {
  return {"method",        "seeds",    fmt::format("median of last {}, %", kMedianEpochs),
          "last epoch, %", "paper, %", "difference"};
}

Cells cells_of(const ResultRow& r) {
  return {
      r.method,
      fmt::format("{}", r.seeds.size()),
      to_text(r.median),
      to_text(r.last),
      r.paper ? fmt::format("{:.2f}", *r.paper) : "–",
      r.paper ? fmt::format("{:+.2f}{}", *r.difference(), r.far_from_paper() ? " !" : "") : "–"};
}

/// Explains the mark, if there is one.
std::string legend(const ResultTable& table) {
  if (std::ranges::none_of(table.rows, &ResultRow::far_from_paper)) return "";
  return fmt::format("! is more than {} points from the paper.\n", kFarFromPaper);
}

std::string plain_line(const Cells& c) {
  return fmt::format("{:<14} {:>5}  {:<20}  {:<13}  {:<8}  {}\n", c[0], c[1], c[2], c[3], c[4],
                     c[5]);
}

std::string plain_table(const ResultTable& table) {
  std::string text = table.model + (table.data.empty() ? "" : " on " + table.data) + "\n";
  text += plain_line(heading());
  for (const ResultRow& row : table.rows) text += plain_line(cells_of(row));
  return text + legend(table);
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "";
}

std::string csv(const std::vector<ResultTable>& tables) {
  std::string text =
      "model,method,seeds,median_mean,median_std,last_mean,last_std,paper,difference,far\n";
  for (const ResultTable& table : tables) {
    for (const ResultRow& r : table.rows) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", table.model, r.method, r.seeds.size(),
                          csv_number(r.median.mean), csv_number(r.median.deviation),
                          csv_number(r.last.mean), csv_number(r.last.deviation),
                          csv_number(r.paper), csv_number(r.difference()), r.far_from_paper());
    }
  }
  return text;
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const Spread& s) { return {{"mean", s.mean}, {"std", json_of(s.deviation)}}; }

}  // namespace

Spread spread_of(std::span<const double> values) {
  MEDLEY_DCHECK(!values.empty());
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return {mean, std::nullopt};
  double sum = 0;
  for (const double x : values) sum += (x - mean) * (x - mean);
  return {mean, std::sqrt(sum / (count - 1))};
}

std::string to_text(const Spread& s) {
  return s.deviation ? fmt::format("{:.2f} ± {:.2f}", s.mean, *s.deviation)
                     : fmt::format("{:.2f}", s.mean);
}

double median_of_last(const RunResult& result, std::int64_t epochs) {
  MEDLEY_DCHECK(epochs > 0 && !result.metrics.empty());
  const std::span metrics = result.metrics;
  const auto last = metrics.last(std::min(metrics.size(), static_cast<std::size_t>(epochs)));
  std::vector<double> values;
  for (const EpochMetrics& m : last) {
    if (m.score) values.push_back(m.score->test_top1);
  }
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<EpochAccuracy> mean_accuracy(const std::vector<std::vector<EpochMetrics>>& runs) {
  MEDLEY_DCHECK(!runs.empty());
  std::vector<EpochAccuracy> means;
  const std::size_t epochs = std::ranges::min(runs, {}, &std::vector<EpochMetrics>::size).size();
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    const auto has_score = [&](const std::vector<EpochMetrics>& run) {
      return run[epoch].score.has_value();
    };
    if (!std::ranges::all_of(runs, has_score)) continue;
    double sum = 0;
    for (const std::vector<EpochMetrics>& run : runs) sum += run[epoch].score->test_top1;
    means.push_back({static_cast<std::int64_t>(epoch) + 1, sum / static_cast<double>(runs.size())});
  }
  return means;
}

std::span<const std::string_view> paper_methods() noexcept { return kPaperMethods; }

std::optional<double> paper_accuracy(std::string_view model, std::string_view method) {
  const auto row = std::ranges::find(kPaper, model, &PaperRow::model);
  const auto column = std::ranges::find(kPaperMethods, method);
  if (row == kPaper.end() || column == kPaperMethods.end()) return std::nullopt;
  return row->accuracy[static_cast<std::size_t>(column - kPaperMethods.begin())];
}

ResultFiles read_results(std::span<const fs::path> files_and_folders) {
  ResultFiles found;
  try {
    for (const fs::path& path : files_and_folders) {
      const std::size_t before = found.results.size();
      if (fs::is_directory(path)) {
        read_folder(path, found);
      } else {
        found.results.push_back({path, read_result(path)});
      }
      if (found.results.size() == before) {
        fail_io(fmt::format("{} holds no result of a finished run", path.string()));
      }
    }
  } catch (const fs::filesystem_error& problem) {
    fail_io(fmt::format("cannot read {}: {}", problem.path1().string(), problem.code().message()));
  }
  return found;
}

std::optional<double> ResultRow::difference() const {
  if (!paper) return std::nullopt;
  return hundredths(median.mean - *paper) / 100 + 0.0;  // no negative zero
}

bool ResultRow::far_from_paper() const {
  return paper && std::abs(hundredths(median.mean - *paper)) > hundredths(kFarFromPaper);
}

std::vector<ResultTable> tabulate(const std::vector<ResultFile>& files) {
  std::array<std::string_view, kPaper.size()> models;
  std::ranges::transform(kPaper, models.begin(), &PaperRow::model);
  const std::vector<std::string_view> order = method_order();
  using Rank = std::pair<std::size_t, std::string>;
  std::map<Rank, std::map<Rank, Cell>> cells;
  for (const ResultFile& file : files) {
    auto& rows = cells[rank_in(models, file.result.model())];
    if (!rows.empty()) check_same_data(*rows.begin()->second.front(), file);
    Cell& cell = rows[rank_in(order, file.result.method())];
    for (const ResultFile* other : cell) check_same_cell(*other, file);
    cell.push_back(&file);
  }
  std::vector<ResultTable> tables;
  for (const auto& [model, rows] : cells) {
    const RunResult& any = rows.begin()->second.front()->result;
    ResultTable& table = tables.emplace_back(ResultTable{any.model(), any.data.name, {}});
    for (const auto& [method, cell] : rows) table.rows.push_back(row_of(cell));
  }
  return tables;
}

std::string to_markdown(const ResultTable& table) {
  const auto line = [](const Cells& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::string text = line(heading()) + "|---|---|---|---|---|---|\n";
  for (const ResultRow& row : table.rows) text += line(cells_of(row));
  const std::string explained = legend(table);
  return explained.empty() ? text : text + "\n" + explained;
}

std::string to_text(const std::vector<ResultTable>& tables, TableFormat format) {
  if (format == TableFormat::csv) return csv(tables);
  std::string text;
  for (const ResultTable& table : tables) {
    if (!text.empty()) text += "\n";
    text += format == TableFormat::text
                ? plain_table(table)
                : fmt::format("### {}\n\n{}", table.model, to_markdown(table));
  }
  return text;
}

std::string to_json(const std::vector<ResultTable>& tables) {
  Json models = Json::array();
  for (const ResultTable& table : tables) {
    Json rows = Json::array();
    for (const ResultRow& r : table.rows) {
      rows.push_back({{"method", r.method},
                      {"seeds", r.seeds},
                      {"median", json_of(r.median)},
                      {"last", json_of(r.last)},
                      {"paper", json_of(r.paper)},
                      {"difference", json_of(r.difference())},
                      {"far", r.far_from_paper()}});
    }
    models.push_back({{"model", table.model}, {"data", table.data}, {"methods", std::move(rows)}});
  }
  return Json{{"schema", "medley.results/1"}, {"models", std::move(models)}}.dump() + "\n";
}

}  // namespace medley::train
