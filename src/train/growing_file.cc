#include "train/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

#include "core/check.h"
#include "data/file.h"
#include "data/uninterrupted.h"

namespace medley::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_write(const fs::path& path, int code) {
  fail_io(fmt::format("cannot write {}: {}", path.string(),
                      std::error_code(code, std::generic_category()).message()));
}

/// A file that is open; closed at the end.
class OpenFile {
 public:
  /// Follows no link and waits for no pipe.
  explicit OpenFile(const fs::path& path)
      : fd_(data::uninterrupted([&] {
          return ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        })) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] bool is_plain() const {
    struct stat status {};
    return ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
  }
  /// How much of the beginning of the file is that of `content`.
  [[nodiscard]] std::size_t common(std::string_view content) const {
    std::array<char, 1 << 16> block;
    std::size_t same = 0;
    while (same < content.size()) {
      const std::size_t want = std::min(block.size(), content.size() - same);
      const ssize_t count = data::uninterrupted(
          [&] { return ::pread(fd_, block.data(), want, static_cast<off_t>(same)); });
      if (count <= 0) break;
      const char* const begin = block.data();
      const char* const end = begin + count;
      const char* const differs = std::mismatch(begin, end, content.data() + same).first;
      same += static_cast<std::size_t>(differs - begin);
      if (differs != end) break;
    }
    return same;
  }
  /// 0 or the reason why not.
  [[nodiscard]] int cut(std::size_t size) const {
    const auto length = static_cast<off_t>(size);
    return data::uninterrupted([&] { return ::ftruncate(fd_, length); }) == 0 ? 0 : errno;
  }
  [[nodiscard]] int write(std::string_view bytes, std::size_t at) const {
    while (!bytes.empty()) {
      const ssize_t count = data::uninterrupted(
          [&] { return ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)); });
      if (count < 0) return errno;
      bytes.remove_prefix(static_cast<std::size_t>(count));
      at += static_cast<std::size_t>(count);
    }
    return 0;
  }
  [[nodiscard]] int flush() const {
    return data::uninterrupted([&] { return ::fsync(fd_); }) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

}  // namespace

void grow_file(const fs::path& path, std::string_view content) {
  std::error_code ignored;
  const bool is_new = !fs::exists(fs::symlink_status(path, ignored));
  const OpenFile file(path);
  if (!file.is_open() && errno != ELOOP && errno != EISDIR) fail_write(path, errno);
  if (!file.is_open() || !file.is_plain()) {
    return data::write_file_durably(
        path, {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
  }
  const std::size_t same = file.common(content);
  int problem = file.cut(same);
  if (problem == 0) problem = file.write(content.substr(same), same);
  if (problem == 0) problem = file.flush();
  if (problem != 0) {
    static_cast<void>(file.cut(same));
    fail_write(path, problem);
  }
  if (is_new) data::flush_folder(path.parent_path());
}

}  // namespace medley::train
