#include "data/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "data/uninterrupted.h"

namespace medley::data {
namespace {

[[noreturn]] void fail_errno(std::string_view action, const std::string& name) {
  const std::error_code code(errno, std::generic_category());
  fail_io(fmt::format("cannot {} {}: {}", action, name, code.message()));
}

/// Never waits: a pipe without a writer would block an open() without O_NONBLOCK.
int open_for_reading(const std::filesystem::path& path) {
  return uninterrupted(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : name_(path.string()), descriptor_(open_for_reading(path)) {
  if (descriptor_ < 0) fail_errno("open", name_);
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  ::close(descriptor_);
  if (!known) fail_errno("read", name_);
  if (S_ISDIR(status.st_mode)) fail_io(fmt::format("{} is a directory, expected a file", name_));
  fail_io(fmt::format("{} is not a regular file", name_));
}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      position_(other.position_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(std::span<std::uint8_t> to) {
  while (!to.empty()) {
    const ssize_t count = uninterrupted(
        [&] { return ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(position_)); });
    if (count < 0) fail_errno("read", name_);
    if (count == 0) fail_io(fmt::format("{} ends after {} bytes", name_, position_));
    position_ += static_cast<std::uint64_t>(count);
    to = to.subspan(static_cast<std::size_t>(count));
  }
}

std::vector<std::uint8_t> InputFile::read_up_to(std::size_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(count, left())));
  read(bytes);
  return bytes;
}

void InputFile::seek(std::uint64_t position) { position_ = std::min(position, size_); }

void check_file_size(const InputFile& file, std::uint64_t most) {
  if (file.size() <= most) return;
  fail_io(fmt::format("{} is too large: expected at most {} bytes, got {}", file.name(), most,
                      file.size()));
}

}  // namespace medley::data
