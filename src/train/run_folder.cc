#include "medley/train/run_folder.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "train/checkpoint.h"
#include "train/events.h"

namespace medley {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEvents = "events.out.tfevents.0.medley";

/// The files that a run makes; nothing else is ever removed.
bool belongs_to_run(const fs::path& path) {
  constexpr std::array<std::string_view, 6> kNames = {
      "recipe.json", "metrics.jsonl", "batch.png", "weights.safetensors", "result.json", kEvents};
  if (is_leftover(path)) return belongs_to_run(fs::path(path).replace_extension());
  return std::ranges::find(kNames, path.filename().string()) != kNames.end() || is_checkpoint(path);
}

std::vector<fs::path> files_of_run(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (belongs_to_run(entry.path())) files.push_back(entry.path());
  }
  return files;
}

std::vector<ScalarEvent> events_of(const std::vector<EpochMetrics>& metrics) {
  std::vector<ScalarEvent> events;
  for (const EpochMetrics& m : metrics) {
    const auto add = [&](const char* tag, double value) {
      events.push_back({tag, m.epoch, static_cast<float>(value), m.wall_time});
    };
    add("train/loss", m.train_loss);
    add("train/lr", m.lr);
    if (!m.score) continue;
    add("train/clean_top1", m.score->clean_train_top1);
    add("test/top1", m.score->test_top1);
    add("test/top5", m.score->test_top5);
    if (m.score->ema_test_top1) add("test/ema_top1", *m.score->ema_test_top1);
  }
  return events;
}

}  // namespace

RunFolder::RunFolder(fs::path folder, Existing existing)
    : folder_(std::move(folder)), existing_(existing) {
  if (existing == Existing::refuse && !files_of_run(folder_).empty()) {
    fail_argument(
        fmt::format("{} holds a run already; go on with it (--resume) or replace it (--overwrite)",
                    folder_.string()));
  }
}

void RunFolder::start() const {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem) {
    fail_io(fmt::format("cannot make folder {}: {}", folder_.string(), problem.message()));
  }
  if (existing_ != Existing::overwrite) return;
  for (const fs::path& path : files_of_run(folder_)) fs::remove(path, problem);
}

void RunFolder::remove_end() const {
  std::error_code ignored;
  for (const char* name : {"result.json", "weights.safetensors"}) fs::remove(file(name), ignored);
}

void RunFolder::write_metrics(const std::vector<EpochMetrics>& metrics) const {
  std::string lines;
  for (const EpochMetrics& m : metrics) lines += metrics_line(m) + "\n";
  write("metrics.jsonl", lines);
  write(kEvents, encode_events(events_of(metrics)));
}

void RunFolder::write(std::string_view name, std::string_view text) const {
  write_file_durably(file(name), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace medley
