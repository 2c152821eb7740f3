#include "data/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "data/input_file.h"
#include "data/uninterrupted.h"
#include "medley/error.h"

namespace medley::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_errno(std::string_view action, const fs::path& path) {
  const std::error_code code(errno, std::generic_category());
  throw IoError(fmt::format("cannot {} {}: {}", action, path.string(), code.message()));
}

/// An open file descriptor, closed on the way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool close() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return close_file(fd);
  }

 private:
  int fd_;
};

/// A name that is removed unless the file was moved to its place.
class TemporaryName {
 public:
  explicit TemporaryName(fs::path path) : path_(std::move(path)) {}
  ~TemporaryName() {
    if (!moved_) ::unlink(path_.c_str());
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  [[nodiscard]] bool move_to(const fs::path& target) {
    moved_ = uninterrupted([&] { return ::rename(path_.c_str(), target.c_str()); }) == 0;
    return moved_;
  }

 private:
  fs::path path_;
  bool moved_ = false;
};

bool flush(int fd) {
  return uninterrupted([fd] { return ::fsync(fd); }) == 0;
}

void flush_opened(const fs::path& name, int flags) {
  const Descriptor opened(uninterrupted([&] { return ::open(name.c_str(), flags); }));
  if (opened.get() < 0 || !flush(opened.get())) fail_errno("flush", name);
}

}  // namespace

bool write_all(int descriptor, std::span<const std::uint8_t> bytes, Flush to_disk) {
  while (!bytes.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return to_disk == Flush::no || flush(descriptor);
}

bool close_file(int descriptor) noexcept {
  return ::close(descriptor) == 0 || errno == EINTR;  // which closes it all the same
}

fs::path temporary_in(const fs::path& folder, std::string_view suffix) {
  std::random_device random;
  return folder / fmt::format("{}{:08x}{:08x}{}", kTemporaryPrefix, random(), random(), suffix);
}

int create_file(const fs::path& name) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return uninterrupted([&] { return ::open(name.c_str(), kFlags, 0666); });
}

std::vector<std::uint8_t> read_file(const fs::path& path, std::size_t most) {
  InputFile file(path);
  check_file_size(file, most);
  return file.read_up_to(most);
}

void write_file(const fs::path& path, std::span<const std::uint8_t> bytes) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw IoError(fmt::format("cannot write {}: it is a directory", path.string()));
  }
  // Renaming onto a device or pipe would replace it.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    throw IoError(fmt::format("cannot write {}: it is not a regular file", path.string()));
  }
  const fs::path name = temporary_in(path.parent_path(), kTemporarySuffix);
  Descriptor file(create_file(name));
  if (file.get() < 0) fail_errno("write", path);
  TemporaryName temporary(name);
  if (!write_all(file.get(), bytes, Flush::no) || !file.close() || !temporary.move_to(path)) {
    fail_errno("write", path);
  }
}

void write_file_durably(const fs::path& path, std::span<const std::uint8_t> bytes) {
  const fs::path name = path.string() + std::string(kPartSuffix);
  // What a killed process left, or a link that somebody else put there.
  const int removed = uninterrupted([&] { return ::unlink(name.c_str()); });
  if (removed != 0 && errno != ENOENT) fail_errno("write", path);
  Descriptor file(create_file(name));
  if (file.get() < 0) fail_errno("write", path);
  TemporaryName temporary(name);
  if (!write_all(file.get(), bytes, Flush::yes) || !file.close() || !temporary.move_to(path)) {
    fail_errno("write", path);
  }
  flush_folder(path.parent_path());
}

void flush_file(const fs::path& path) { flush_opened(path, O_RDONLY | O_CLOEXEC); }

void flush_folder(const fs::path& folder) {
  flush_opened(folder.empty() ? fs::path(".") : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

}  // namespace medley::data
