#include "train/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "train/checkpoint.h"
#include "train/events.h"
#include "train/folder.h"
#include "train/folder_lock.h"
#include "train/growing_file.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEvents = "events.out.tfevents.0.medley";

/// Whether a run makes a file of that name.
bool belongs_to_run(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "recipe.json",         "run.json",    "metrics.jsonl", "batch.png",
      "weights.safetensors", "result.json", kEvents};
  return std::ranges::find(kNames, name) != kNames.end() || is_checkpoint(name);
}

/// Whether a killed process left it.
bool is_leftover(std::string_view name) {
  if (name.starts_with(data::kTemporaryPrefix) && name.ends_with(data::kTemporarySuffix))
    return true;
  return name.ends_with(data::kPartSuffix) &&
         belongs_to_run(name.substr(0, name.size() - data::kPartSuffix.size()));
}

/// Files whose names are such; nothing else is ever removed.
std::vector<fs::path> files_that(bool (*are)(std::string_view name), const fs::path& folder) {
  std::vector<fs::path> files = list_folder(folder);
  std::erase_if(files, [&](const fs::path& path) { return !are(path.filename().string()); });
  return files;
}

void remove_file(const fs::path& path) {
  std::error_code problem;
  do {
    fs::remove(path, problem);
  } while (problem == std::errc::interrupted);
  if (problem) fail_io(fmt::format("cannot remove {}: {}", path.string(), problem.message()));
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

RunFolder::RunFolder(fs::path folder, ExistingRun existing)
    : folder_(std::move(folder)), existing_(existing) {
  // One that cannot be written to may hold a run that is finished.
  if (::access(folder_.c_str(), W_OK) == 0) lock();
  // Listed in any case: a folder that cannot be is left before anything is written to it.
  const bool holds_run = !files_that(belongs_to_run, folder_).empty();
  if (existing == ExistingRun::refuse && holds_run) {
    fail_argument(
        fmt::format("{} holds a run already; go on with it (--resume) or replace it (--overwrite)",
                    folder_.string()));
  }
}

RunFolder::~RunFolder() = default;

void RunFolder::lock() { lock_ = std::make_unique<FolderLock>(folder_); }

std::string RunFolder::lock_problem() const { return lock_ ? lock_->problem() : std::string(); }

void RunFolder::start(const std::vector<RunFile>& files) {
  go_on(files);
  remove_end();
  if (existing_ != ExistingRun::overwrite) return;
  for (const fs::path& path : files_that(belongs_to_run, folder_)) {
    const bool is_new =
        std::ranges::find(files, path.filename().string(), &RunFile::name) != files.end();
    if (!is_new) remove_file(path);
  }
  data::flush_folder(folder_);
}

void RunFolder::go_on(const std::vector<RunFile>& files) {
  if (!lock_) {
    make_folder(folder_);
    lock();
    if (existing_ != ExistingRun::overwrite && !files_that(belongs_to_run, folder_).empty()) {
      fail_io(fmt::format("another process began a run in {} meanwhile", folder_.string()));
    }
  }
  for (const RunFile& one : files) write(one.name, one.content);
  for (const fs::path& path : files_that(is_leftover, folder_)) remove_file(path);
}

void RunFolder::remove_end() const {
  for (const char* name : {"result.json", "weights.safetensors"}) remove_file(file(name));
  data::flush_folder(folder_);
}

void RunFolder::write_metrics(const std::vector<EpochMetrics>& metrics) const {
  std::string lines;
  for (const EpochMetrics& m : metrics) lines += metrics_line(m) + "\n";
  grow_file(file("metrics.jsonl"), lines);
  // The event file begins with the time of its first event.
  grow_file(file(kEvents), metrics.empty() ? "" : encode_events(events_of(metrics)));
}

void RunFolder::write(std::string_view name, std::string_view text) const {
  data::write_file_durably(file(name),
                           {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace medley::train
