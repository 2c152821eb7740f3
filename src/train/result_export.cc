#include "train/result_export.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "medley/train/result.h"
#include "train/folder.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;

RunResult result_of(const fs::path& run) {
  if (!fs::exists(run / "recipe.json")) {
    fail_argument(fmt::format("{} is not the folder of a run", run.string()));
  }
  if (std::optional<RunResult> result = finished_result(run)) return *std::move(result);
  fail_argument(fmt::format("{} is not finished: {}", run.string(),
                            fs::exists(run / "result.json")
                                ? "its recipe.json is not that of its result.json"
                                : "it has no result.json; go on with --resume"));
}

}  // namespace

std::vector<fs::path> export_runs(std::span<const fs::path> runs, const fs::path& folder) {
  std::map<fs::path, fs::path> sources;  // by target
  std::vector<fs::path> targets;
  for (const fs::path& run : runs) {
    const RunResult r = result_of(run);
    const fs::path target =
        folder / fmt::format("{}-{}-seed{}.json", r.model(), r.method(), r.seed);
    const auto [other, added] = sources.try_emplace(target, run);
    if (!added) {
      fail_argument(fmt::format("{} and {} are both {}", other->second.string(), run.string(),
                                target.filename().string()));
    }
    if (fs::exists(target) && data::read_file(target) != data::read_file(run / "result.json")) {
      fail_argument(fmt::format("{} holds another result than {}; remove it first", target.string(),
                                run.string()));
    }
    targets.push_back(target);
  }
  make_folder(folder);
  for (const auto& [target, run] : sources) {
    if (!fs::exists(target)) data::write_file_durably(target, data::read_file(run / "result.json"));
  }
  return targets;
}

}  // namespace medley::train
