#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "medley/train/result.h"

namespace medley::train {

/// One line of metrics.jsonl, without the newline and without the wall time.
[[nodiscard]] std::string metrics_line(const EpochMetrics& metrics);

/// A JSON array with everything, and back. Throws IoError with `name` and the place.
[[nodiscard]] std::string encode_metrics(const std::vector<EpochMetrics>& metrics);
[[nodiscard]] std::vector<EpochMetrics> decode_metrics(std::string_view text,
                                                       const std::string& name);

/// A file that a run begins with, such as recipe.json.
struct RunFile {
  std::string name;
  std::string content;
};

class FolderLock;

/// The folder of a run: recipe.json, run.json, metrics.jsonl, TensorBoard events, checkpoints,
/// pictures, weights. While this lives no other run can use it, of this process or another.
class RunFolder {
 public:
  /// Locks the folder, if there is one, and changes nothing of a run in it. Throws InvalidArgument
  /// if it is to be refused for holding a run already, and IoError if another run uses it, or if
  /// it cannot be known what is in it.
  RunFolder(std::filesystem::path folder, ExistingRun existing);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Begins a run, once it can be: makes the folder, writes these files durably, and only then
  /// removes what the folder has of the run that is replaced. Throws IoError; as long as nothing
  /// was written, the run that was there is whole.
  void start(const std::vector<RunFile>& files);
  /// The same for a run that goes on, of which nothing is removed but what a killed process left.
  void go_on(const std::vector<RunFile>& files);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }
  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return folder_ / name; }
  /// What to say where the file system has no locks; empty otherwise.
  [[nodiscard]] std::string lock_problem() const;

  /// Removes result.json and weights.safetensors, which a run that goes on does not have yet.
  void remove_end() const;

  /// Makes metrics.jsonl and the event file those of these epochs: what is new is added to their
  /// ends, and what a crash left otherwise is mended. Throws IoError.
  void write_metrics(const std::vector<EpochMetrics>& metrics) const;
  /// Replaces a file durably. Throws IoError.
  void write(std::string_view name, std::string_view text) const;

 private:
  void lock();

  std::filesystem::path folder_;
  ExistingRun existing_;
  std::unique_ptr<FolderLock> lock_;
};

}  // namespace medley::train
