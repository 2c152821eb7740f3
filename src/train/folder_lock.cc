#include "train/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "core/check.h"
#include "data/uninterrupted.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;

std::string reason(int code) { return std::error_code(code, std::generic_category()).message(); }

/// Of a file that others may have put there: a link is not followed, a pipe not waited for.
int open_lock(const fs::path& file) {
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int descriptor = data::uninterrupted([&] { return ::open(file.c_str(), flags, 0666); });
  if (descriptor < 0) fail_io(fmt::format("cannot open {}: {}", file.string(), reason(errno)));
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
  ::close(descriptor);
  fail_io(fmt::format("{} is not a regular file; remove it", file.string()));
}

int lock(int descriptor) {
  return data::uninterrupted([&] { return ::flock(descriptor, LOCK_EX | LOCK_NB); }) == 0 ? 0
                                                                                          : errno;
}

/// False if the one who held it before has removed it.
bool is_at(int descriptor, const fs::path& file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// "process 17 on host lab3", as it stands in the file.
std::string holder(int descriptor) {
  std::array<char, 256> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string line(text.data(), static_cast<std::size_t>(size > 0 ? size : 0));
  return line.ends_with('\n') ? line.substr(0, line.size() - 1) : "another process";
}

void sign(int descriptor) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  const std::string line = fmt::format("process {} on host {}\n", ::getpid(), host.data());
  // Only for the message of others: the lock holds without it.
  if (::ftruncate(descriptor, 0) != 0) return;
  static_cast<void>(::pwrite(descriptor, line.data(), line.size(), 0));
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) : file_(folder / ".lock") {
  for (;;) {
    const int descriptor = open_lock(file_);
    const int problem = lock(descriptor);
    if (problem == 0 && !is_at(descriptor, file_)) {
      ::close(descriptor);
      continue;
    }
    if (problem == EWOULDBLOCK) {
      const std::string who = holder(descriptor);
      ::close(descriptor);
      fail_io(fmt::format("{} is in use by {}", folder.string(), who));
    }
    descriptor_ = descriptor;
    if (problem == 0) {
      sign(descriptor);
      return;
    }
    problem_ = fmt::format("{} cannot be locked ({}): start no other run in it", folder.string(),
                           reason(problem));
    return;
  }
}

FolderLock::~FolderLock() {
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

}  // namespace medley::train
