#pragma once

#include <filesystem>
#include <string>

namespace medley::train {

/// Keeps other processes, and others of this one, out of a folder while it lives: `flock` on a file
/// `.lock` in it, which says who holds it and is removed at the end. A killed process holds
/// nothing.
class FolderLock {
 public:
  /// Throws IoError with the holder if there is one, or if the file cannot be made.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Why nothing is kept out, on file systems that have no locks; empty where they do.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string problem_;
};

}  // namespace medley::train
