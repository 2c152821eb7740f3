#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace medley::train {

/// A named part of a checkpoint: a safetensors file, or any other bytes.
struct CheckpointSection {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

/// Everything a run needs to go on: a JSON text that says where it is, and sections of values.
struct Checkpoint {
  std::string state;
  std::vector<CheckpointSection> sections;

  [[nodiscard]] bool has(std::string_view name) const;
  /// The section of that name; throws IoError if there is none.
  [[nodiscard]] const CheckpointSection& section(std::string_view name) const;
};

/// The container: magic, header (state, and name, size and hash of each section), sections, and a
/// hash of all that.
[[nodiscard]] std::vector<std::uint8_t> encode_checkpoint(const Checkpoint& checkpoint);

/// Throws IoError with `name` and the reason if the bytes are not a whole, unharmed checkpoint.
[[nodiscard]] Checkpoint decode_checkpoint(std::vector<std::uint8_t> bytes, std::string_view name);

/// The checkpoints of a run, in a folder. Each save makes a new file, so that a crash while saving
/// leaves the one before; the last two are kept. The newest valid one is found by looking.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Saves durably under the number `step` and removes what is too old. Those of higher numbers,
  /// which could not be read or the run would go on from there, stay. Throws IoError; then the
  /// checkpoints that were there remain.
  void save(std::int64_t step, const Checkpoint& checkpoint) const;

  struct Found {
    std::filesystem::path path;
    Checkpoint checkpoint;
  };
  /// The newest that is whole, if there is one. What had to be passed over is added to `problems`,
  /// a sentence each. Throws IoError if there may be one that cannot be read: a failing disk or a
  /// lack of rights is no reason to begin anew.
  [[nodiscard]] std::optional<Found> load_newest(std::vector<std::string>& problems) const;

  /// Files, newest first. Throws IoError if the folder is there and cannot be read.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path folder_;
};

/// Whether a file has the name of a checkpoint: its prefix, a number and its suffix.
[[nodiscard]] bool is_checkpoint(const std::filesystem::path& path);

/// Reads one file, after a look at its header and size. Throws IoError.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace medley::train
