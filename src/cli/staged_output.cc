#include "cli/staged_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "data/file.h"
#include "medley/error.h"

namespace fs = std::filesystem;

namespace medley::cli {
namespace {

[[noreturn]] void fail_write(const fs::path& path, std::string_view reason) {
  throw IoError(fmt::format("cannot write {}: {}", path.string(), reason));
}

void move_into_place(const fs::path& from, const fs::path& to) {
  std::error_code problem;
  fs::rename(from, to, problem);
  if (problem) fail_write(to, problem.message());
}

/// Writes to an open stream, which may be null, and closes it; errors call it `target`.
void write_bytes(std::FILE* file, std::span<const std::uint8_t> bytes, const fs::path& target) {
  if (file == nullptr) fail_write(target, std::strerror(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int problem = errno;
  if (std::fclose(file) != 0 || !written) {
    fail_write(target, std::strerror(written ? errno : problem));
  }
}

/// Keeps a part from being taken for one that was left behind, where the file system has locks.
/// False if somebody has just done so, before it was locked.
bool hold(int part) {
  while (flock(part, LOCK_EX) != 0) {
    if (errno != EINTR) return true;
  }
  struct stat status {};
  return fstat(part, &status) != 0 || status.st_nlink > 0;
}

/// A new file or folder with a temporary name, and its descriptor, which holds it. Errors call it
/// `target`.
std::pair<fs::path, int> make_part(const fs::path& folder, fs::file_type type,
                                   const fs::path& target) {
  for (;;) {
    const fs::path path = temporary_in(folder, kPartSuffix);
    int part = -1;
    if (type == fs::file_type::regular) {
      part = create_file(path);
    } else if (mkdir(path.c_str(), 0777) == 0) {
      part = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (part < 0) fail_write(target, std::strerror(errno));
    if (hold(part)) return {path, part};
    close(part);
  }
}

/// ".medley-" and ".part" around the digits that temporary_in() draws.
bool is_part_name(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  return name.size() == kTemporaryPrefix.size() + kDigits + kPartSuffix.size() &&
         name.starts_with(kTemporaryPrefix) && name.ends_with(kPartSuffix) &&
         name.substr(kTemporaryPrefix.size(), kDigits).find_first_not_of("0123456789abcdef") ==
             std::string_view::npos;
}

/// Makes `folder` and the folders above it; returns those that were new, outermost first.
std::vector<fs::path> make_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  for (fs::path p = fs::absolute(folder).lexically_normal(); !fs::exists(p); p = p.parent_path()) {
    if (p.has_filename()) missing.push_back(p);
  }
  std::reverse(missing.begin(), missing.end());
  fs::create_directories(folder);
  return missing;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

void remove_dead_parts(const fs::path& folder) noexcept {
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (!is_part_name(entry.path().filename().string())) continue;
      const int part = open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (part < 0) continue;
      std::error_code ignored;
      if (flock(part, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
      close(part);
    }
  } catch (const std::exception&) {  // the rest stays for the next
  }
}

StagedFiles::~StagedFiles() {
  for (const Move& move : moves_) {
    std::error_code ignored;
    fs::remove(move.from, ignored);
    close(move.lock);
  }
}

void check_place(const fs::path& target) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) fail_write(target, "it is a folder");
  const fs::path folder = folder_of(target);
  if (!fs::exists(status) && !fs::is_directory(folder, ignored)) {
    fail_write(target, fmt::format("there is no folder {}; create it first", folder.string()));
  }
}

void StagedFiles::write(const fs::path& target, std::span<const std::uint8_t> bytes) {
  check_place(target);
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return write_bytes(std::fopen(target.c_str(), "wb"), bytes, target);
  }
  const fs::path place = fs::exists(status) ? fs::canonical(target) : target;
  remove_dead_parts(folder_of(place));
  const auto [name, part] = make_part(folder_of(place), fs::file_type::regular, target);
  moves_.push_back({name, place, part});
  // One that takes the place of another has its permissions.
  if (fs::exists(status) && fchmod(part, static_cast<mode_t>(status.permissions())) != 0) {
    fail_write(target, std::strerror(errno));
  }
  write_bytes(fdopen(dup(part), "wb"), bytes, target);
}

void StagedFiles::commit() {
  for (const Move& move : moves_) move_into_place(move.from, move.to);
  for (const Move& move : moves_) close(move.lock);
  moves_.clear();
}

void write_staged(const fs::path& target, std::span<const std::uint8_t> bytes) {
  StagedFiles files;
  files.write(target, bytes);
  files.commit();
}

StagedFolder::StagedFolder(const fs::path& target) : target_(target) {
  try {
    created_ = make_folders(target);
    remove_dead_parts(target);
    std::tie(staging_, lock_) = make_part(target, fs::file_type::directory, target);
  } catch (const fs::filesystem_error& problem) {
    clean_up();
    fail_write(target, problem.code().message());
  } catch (const IoError&) {
    clean_up();
    throw;
  }
}

StagedFolder::~StagedFolder() { clean_up(); }

void StagedFolder::write(const fs::path& relative, std::span<const std::uint8_t> bytes) {
  const fs::path path = staging_ / relative;
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  if (problem) fail_write(target_ / relative, problem.message());
  write_bytes(std::fopen(path.c_str(), "wbx"), bytes, target_ / relative);
}

void StagedFolder::commit() {
  try {
    for (const auto& entry : fs::recursive_directory_iterator(staging_)) {
      const fs::path place = target_ / fs::relative(entry.path(), staging_);
      if (entry.is_directory()) {
        fs::create_directories(place);
      } else {
        move_into_place(entry.path(), place);
      }
    }
  } catch (const fs::filesystem_error& problem) {
    fail_write(target_, problem.code().message());
  }
  created_.clear();
}

void StagedFolder::clean_up() noexcept {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
  if (lock_ >= 0) close(std::exchange(lock_, -1));
  // Innermost first; one that something else was put into stays.
  for (std::size_t i = created_.size(); i-- > 0;) fs::remove(created_[i], ignored);
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace medley::cli
