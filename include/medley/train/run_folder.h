#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace medley {

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

/// One line of metrics.jsonl, without the newline and without the wall time.
[[nodiscard]] std::string metrics_line(const EpochMetrics& metrics);

/// A JSON array with everything, and back. Throws IoError with `name` and the place.
[[nodiscard]] std::string encode_metrics(const std::vector<EpochMetrics>& metrics);
[[nodiscard]] std::vector<EpochMetrics> decode_metrics(std::string_view text,
                                                       const std::string& name);

/// The folder of a run: recipe.json, metrics.jsonl, TensorBoard events, checkpoints, pictures,
/// weights.
class RunFolder {
 public:
  enum class Existing { refuse, resume, overwrite };

  /// Changes nothing yet. A folder that holds a run already may be refused: throws InvalidArgument.
  RunFolder(std::filesystem::path folder, Existing existing);

  /// Makes the folder, or empties it of the files of a run that is to be overwritten. To be called
  /// before anything is written, once the run can be. Throws IoError.
  void start() const;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_; }
  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return folder_ / name; }

  /// Removes result.json and weights.safetensors, which a run that goes on does not have yet.
  void remove_end() const;

  /// Replace metrics.jsonl and the event file with these epochs.
  void write_metrics(const std::vector<EpochMetrics>& metrics) const;
  /// Replaces a file durably. Throws IoError.
  void write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path folder_;
  Existing existing_;
};

/// The lines of a metrics.jsonl. Throws IoError with file and line.
[[nodiscard]] std::vector<EpochMetrics> read_metrics(const std::filesystem::path& file);

}  // namespace medley
