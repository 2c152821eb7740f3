#include "train/folder.h"

#include <unistd.h>

#include <system_error>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"

namespace medley::train {

namespace fs = std::filesystem;

std::vector<fs::path> list_folder(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code problem;
  fs::directory_iterator entry;
  do {
    entry = fs::directory_iterator(folder, problem);
  } while (problem == std::errc::interrupted);
  if (problem == std::errc::no_such_file_or_directory) return found;
  while (!problem && entry != fs::directory_iterator()) {
    found.push_back(entry->path());
    entry.increment(problem);
  }
  if (problem) {
    fail_io(fmt::format("cannot read folder {}: {}", folder.string(), problem.message()));
  }
  return found;
}

void make_folder(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> parents;  // of folders that are new, innermost first
  for (fs::path p = fs::absolute(folder).lexically_normal();
       p.has_relative_path() && !fs::exists(p, problem); p = p.parent_path()) {
    parents.push_back(p.parent_path());
  }
  problem.clear();
  fs::create_directories(folder, problem);
  if (problem) {
    fail_io(fmt::format("cannot make folder {}: {}", folder.string(), problem.message()));
  }
  for (const fs::path& parent : parents) {
    if (::access(parent.c_str(), R_OK) == 0)
      data::flush_folder(parent);  // cannot be opened otherwise
  }
}

}  // namespace medley::train
