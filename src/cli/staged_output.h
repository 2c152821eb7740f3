#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace medley::cli {

/// Of a file to its place.
struct Move {
  std::filesystem::path from;
  std::filesystem::path to;
  std::filesystem::path old = {};  ///< where what it replaces is kept, if anything is
  int lock = -1;                   ///< descriptor of `from` that holds it, or none
};

/// Output files that appear in full or not at all: they are written under temporary names in the
/// folder they belong to, flushed to the disk, and renamed together; if one cannot be, those before
/// it become again what they were. Whatever was not committed is removed; what a killed process
/// left is removed by the next that writes into the folder. An existing file is replaced, the
/// target of a symbolic link too, and its permissions are kept; what is not a plain file
/// (/dev/null, a pipe) is written to directly.
class StagedFiles {
 public:
  StagedFiles() = default;
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  /// Prepares `target`. Throws IoError if it is a folder, would be in one that does not exist, or
  /// cannot be written in full.
  void write(const std::filesystem::path& target, std::span<const std::uint8_t> bytes);
  void commit();

 private:
  std::vector<Move> moves_;
};

/// The same for a folder of files: they are written to a hidden folder inside `target`, which is
/// created if need be, and moved up together. Files of other names that `target` holds are left.
class StagedFolder {
 public:
  /// Throws IoError if `target` cannot be made or written to.
  explicit StagedFolder(const std::filesystem::path& target);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  /// Prepares the file `target / relative`.
  void write(const std::filesystem::path& relative, std::span<const std::uint8_t> bytes);
  void commit();

 private:
  void clean_up() noexcept;

  std::filesystem::path target_;
  std::filesystem::path staging_;
  int lock_ = -1;                               // descriptor of staging_
  std::vector<std::filesystem::path> created_;  // folders made for this, outermost first
};

/// Writes one file, as StagedFiles do.
void write_staged(const std::filesystem::path& target, std::span<const std::uint8_t> bytes);

/// Removes what killed processes left in a folder: temporary names that nobody holds a lock of.
void remove_dead_parts(const std::filesystem::path& folder) noexcept;

/// Throws IoError if `target` is a folder or would be in one that does not exist: for those who
/// have much to do before they write.
void check_place(const std::filesystem::path& target);

[[nodiscard]] std::span<const std::uint8_t> bytes_of(std::string_view text);

}  // namespace medley::cli
