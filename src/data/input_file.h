#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace medley::data {

/// A regular file that is read from its beginning on. Its size is known before a byte is read, so
/// that what cannot be right is refused without reading it.
class InputFile {
 public:
  /// Throws IoError if it cannot be opened or is a folder, device or pipe; never waits for one.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Bytes that were not read yet.
  [[nodiscard]] std::uint64_t left() const noexcept { return size_ - position_; }

  /// Fills `to` with the bytes that come next. Throws IoError if the file has fewer.
  void read(std::span<std::uint8_t> to);
  /// The next bytes: `count` of them, or all that are left if those are fewer.
  [[nodiscard]] std::vector<std::uint8_t> read_up_to(std::size_t count);
  /// Goes on from another place, at most the end.
  void seek(std::uint64_t position);

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

/// Throws IoError if a file has more than `most` bytes.
void check_file_size(const InputFile& file, std::uint64_t most);

}  // namespace medley::data
