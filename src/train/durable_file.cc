#include "train/durable_file.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/check.h"

namespace medley {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".part";

[[noreturn]] void fail(std::string_view what, const fs::path& path) {
  fail_io(fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)));
}

/// An open file, closed on every way out.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Closes now; false if the system reports a late error.
  bool close() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool write_all(int fd, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void write_durably(const fs::path& path, std::span<const std::uint8_t> bytes) {
  const fs::path part = path.string() + std::string(kSuffix);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  Descriptor file(part, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) fail("create", part);
  const bool written = write_all(file.get(), bytes) && ::fsync(file.get()) == 0;
  const int problem = errno;
  const bool closed = file.close();
  if (!written || !closed) {
    if (!written) errno = problem;
    const std::string reason = std::strerror(errno);
    ::unlink(part.c_str());
    fail_io(fmt::format("cannot write {}: {}", path.string(), reason));
  }
  if (::rename(part.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(part.c_str());
    fail_io(fmt::format("cannot rename {}: {}", part.string(), reason));
  }
  const Descriptor parent(folder, O_RDONLY | O_DIRECTORY);
  if (parent.get() < 0 || ::fsync(parent.get()) != 0) fail("flush", folder);
}

void write_durably(const fs::path& path, std::string_view text) {
  write_durably(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

bool is_leftover(const fs::path& path) { return path.string().ends_with(kSuffix); }

}  // namespace medley
