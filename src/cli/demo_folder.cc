#include "cli/demo_folder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/input_files.h"
#include "core/json.h"
#include "medley/error.h"
#include "medley/policy.h"
#include "medley/train/result.h"

namespace medley::cli {
namespace {

namespace fs = std::filesystem;

/// Whose first batch is shown, and which network is compared with the plain one.
constexpr std::string_view kMixed = "hmix";

std::string if_there(const fs::path& folder, const fs::path& name) {
  return fs::exists(folder / name) ? name.string() : "";
}

/// The finished runs of a folder, in the order of the methods.
std::vector<train::ResultFile> finished_runs(const fs::path& folder) {
  std::vector<train::ResultFile> runs;
  if (!fs::is_directory(folder)) return runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    if (auto result = train::finished_result(entry.path())) {
      runs.push_back({entry.path(), *std::move(result)});
    }
  }
  std::ranges::sort(runs, {}, &train::ResultFile::path);
  const auto place = [all = methods()](const train::ResultFile& run) {
    return std::ranges::find(all, run.result.method(), &MethodInfo::name) - all.begin();
  };
  std::ranges::stable_sort(runs, {}, place);
  return runs;
}

void read_runs(const fs::path& folder, report::DemoPage& page) {
  const std::vector<train::ResultFile> runs = finished_runs(folder / "runs");
  if (runs.empty()) return;
  const train::RunResult& first = runs.front().result;
  page.training = {first.data.name, first.data.train,    first.data.test, first.data.classes,
                   first.model(),   first.recipe.epochs, first.seed,      {}};
  for (const train::ResultFile& run : runs) {
    const train::RunResult& result = run.result;
    if (result.seed != first.seed || result.data != first.data ||
        result.recipe.epochs != first.recipe.epochs) {
      throw InvalidArgument(
          fmt::format("{} was trained with other data, another seed or for "
                      "longer than {}",
                      run.path.string(), runs.front().path.string()));
    }
    const train::Score& last = *result.metrics.back().score;
    page.training.runs.push_back({result.method(), last.test_top1, last.clean_train_top1});
    if (result.method() == kMixed) {
      page.first_batch = if_there(folder, run.path.lexically_relative(folder) / "batch.png");
    }
  }
}

void read_comparison(const fs::path& folder, report::DemoPage& page) {
  const fs::path file = folder / "comparison.json";
  if (!fs::exists(file)) return;
  try {
    const auto report = parse_json(read_text(file.string()), file.string(), JsonError::io);
    const auto& against = report.at("against");
    page.comparison = {std::string(kMixed),
                       std::ssize(against.at("only_this").get<std::vector<std::int64_t>>()),
                       std::ssize(against.at("only_other").get<std::vector<std::int64_t>>()),
                       report.at("images").get<std::int64_t>()};
  } catch (const nlohmann::json::exception&) {
    throw IoError(file.string() + " is not what medley eval --against --json prints");
  }
}

}  // namespace

report::DemoPage read_demo_folder(const fs::path& folder) {
  report::DemoPage page;
  page.contact_sheet = if_there(folder, "contact_sheet.png");
  page.theory = if_there(folder, "theory/coefficients.png");
  page.gallery = if_there(folder, "gallery.png");
  read_runs(folder, page);
  read_comparison(folder, page);
  return page;
}

}  // namespace medley::cli
