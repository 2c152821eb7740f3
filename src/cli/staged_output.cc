#include "cli/staged_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "data/file.h"
#include "data/uninterrupted.h"
#include "medley/error.h"

namespace fs = std::filesystem;

namespace medley::cli {
namespace {

/// Of the old files that are kept until all new ones are in place.
constexpr const char* kOldSuffix = ".old";

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

[[noreturn]] void fail_write(const fs::path& path, std::string_view reason) {
  throw IoError(fmt::format("cannot write {}: {}", path.string(), reason));
}

void rename_file(const fs::path& from, const fs::path& to, std::error_code& problem) {
  do {
    fs::rename(from, to, problem);
  } while (problem == std::errc::interrupted);
}

/// Keeps what lies at the place of a file under a name beside that file.
void keep_old(Move& move) {
  std::error_code problem;
  const fs::file_status there = fs::symlink_status(move.to, problem);
  if (!fs::exists(there)) return;
  if (fs::is_directory(there)) fail_write(move.to, "it is a folder");
  // No part, which others remove where they find it without a lock.
  const fs::path name = data::temporary_in(folder_of(move.to), kOldSuffix);
  fs::create_hard_link(move.to, name, problem);
  // Where there are no such links, a process that is killed now leaves the place empty.
  if (problem) rename_file(move.to, name, problem);
  if (problem) fail_write(move.to, problem.message());
  move.old = name;
}

/// False if it cannot be; then the old file is where it was kept.
bool put_back(const Move& move) {
  std::error_code problem;
  rename_file(move.old, move.to, problem);
  if (problem) return false;
  fs::remove(move.old, problem);  // still there if both were names of one file
  return true;
}

/// A place that has a new file and should not: " … is new already, …".
std::string what_is_left(const Move& move) {
  if (move.old.empty()) return fmt::format("; {} is new already", move.to.string());
  return fmt::format("; {} is new already, what it was is {}", move.to.string(), move.old.string());
}

/// Undoes a move; one without an old file may not have been made yet. False if it cannot be.
bool undo(const Move& move) {
  if (!move.old.empty()) return put_back(move);
  std::error_code problem;
  if (!fs::exists(fs::symlink_status(move.from, problem))) fs::remove(move.to, problem);
  return !problem || problem == std::errc::no_such_file_or_directory;
}

/// Whoever may not read a folder cannot open it.
void flush_if_readable(const fs::path& folder) {
  if (access(folder.c_str(), R_OK) == 0) data::flush_folder(folder);
}

/// Moves all files, which were flushed, or none.
void move_all(std::span<Move> moves) {
  std::set<fs::path> folders;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    Move& move = moves[i];
    folders.insert(folder_of(move.to));
    try {
      // The last one replaces its place or leaves it: nothing after it can fail.
      if (i + 1 < moves.size()) keep_old(move);
      std::error_code problem;
      rename_file(move.from, move.to, problem);
      if (problem) fail_write(move.to, problem.message());
    } catch (const IoError& reason) {
      std::string left;
      for (std::size_t k = i + 1; k-- > 0;) left += undo(moves[k]) ? "" : what_is_left(moves[k]);
      throw IoError(reason.what() + left);
    }
  }
  std::error_code ignored;
  for (const Move& move : moves) {
    if (!move.old.empty()) fs::remove(move.old, ignored);
  }
  for (const fs::path& folder : folders) flush_if_readable(folder);
}

/// Writes to an open file, which may be none (-1), and closes it; errors call it `target`.
void write_bytes(int descriptor, std::span<const std::uint8_t> bytes, const fs::path& target,
                 data::Flush flush, std::optional<fs::perms> permissions = {}) {
  if (descriptor < 0) fail_write(target, std::strerror(errno));
  const bool written =
      (!permissions || fchmod(descriptor, static_cast<mode_t>(*permissions)) == 0) &&
      data::write_all(descriptor, bytes, flush);
  const int problem = errno;
  if (!data::close_file(descriptor) || !written) {
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
    const fs::path path = data::temporary_in(folder, data::kPartSuffix);
    int part = -1;
    if (type == fs::file_type::regular) {
      part = data::create_file(path);
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
  return name.size() == data::kTemporaryPrefix.size() + kDigits + data::kPartSuffix.size() &&
         name.starts_with(data::kTemporaryPrefix) && name.ends_with(data::kPartSuffix) &&
         name.substr(data::kTemporaryPrefix.size(), kDigits)
                 .find_first_not_of("0123456789abcdef") == std::string_view::npos;
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
    const int descriptor =
        data::uninterrupted([&] { return open(target.c_str(), O_WRONLY | O_CLOEXEC); });
    return write_bytes(descriptor, bytes, target, data::Flush::no);
  }
  const fs::path place = fs::exists(status) ? fs::canonical(target) : target;
  remove_dead_parts(folder_of(place));
  auto [name, part] = make_part(folder_of(place), fs::file_type::regular, target);
  moves_.push_back({std::move(name), place, {}, part});
  std::optional<fs::perms> permissions;
  if (fs::exists(status)) permissions = status.permissions();
  write_bytes(data::uninterrupted([part = part] { return dup(part); }), bytes, target,
              data::Flush::yes, permissions);
}

void StagedFiles::commit() {
  move_all(moves_);
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
  write_bytes(data::create_file(path), bytes, target_ / relative, data::Flush::no);
}

void StagedFolder::commit() {
  std::vector<Move> moves;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(staging_)) {
      const fs::path place = target_ / fs::relative(entry.path(), staging_);
      if (!entry.is_directory()) {
        data::flush_file(
            entry.path());  // after all were written: a tenth of the time of each at once
        moves.push_back({entry.path(), place});
      } else if (fs::create_directory(place)) {
        created_.push_back(place);
      }
    }
  } catch (const fs::filesystem_error& problem) {
    fail_write(target_, problem.code().message());
  }
  std::ranges::sort(moves, {}, &Move::to);
  move_all(moves);
  for (const fs::path& folder : created_) flush_if_readable(folder_of(folder));
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
