#include "cli/staged_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

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

/// A new file. One that takes the place of another has its permissions.
void write_new(const fs::path& path, std::span<const std::uint8_t> bytes, const fs::path& target,
               std::optional<fs::perms> permissions = {}) {
  const int descriptor = create_file(path);
  if (descriptor < 0) fail_write(target, std::strerror(errno));
  if (permissions && fchmod(descriptor, static_cast<mode_t>(*permissions)) != 0) {
    const int problem = errno;
    close(descriptor);
    fail_write(target, std::strerror(problem));
  }
  write_bytes(fdopen(descriptor, "wb"), bytes, target);
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

StagedFiles::~StagedFiles() {
  for (const auto& [from, to] : moves_) {
    std::error_code ignored;
    fs::remove(from, ignored);
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
  moves_.emplace_back(temporary_in(folder_of(place), kPartSuffix), place);
  std::optional<fs::perms> permissions;
  if (fs::exists(status)) permissions = status.permissions();
  write_new(moves_.back().first, bytes, target, permissions);
}

void StagedFiles::commit() {
  for (const auto& [from, to] : moves_) move_into_place(from, to);
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
    staging_ = temporary_in(target, kPartSuffix);
    fs::create_directory(staging_);
  } catch (const fs::filesystem_error& problem) {
    clean_up();
    fail_write(target, problem.code().message());
  }
}

StagedFolder::~StagedFolder() { clean_up(); }

void StagedFolder::write(const fs::path& relative, std::span<const std::uint8_t> bytes) {
  const fs::path path = staging_ / relative;
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  if (problem) fail_write(target_ / relative, problem.message());
  write_new(path, bytes, target_ / relative);
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
  // Innermost first; one that something else was put into stays.
  for (std::size_t i = created_.size(); i-- > 0;) fs::remove(created_[i], ignored);
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace medley::cli
