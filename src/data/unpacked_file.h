#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/input_file.h"

namespace medley::data {

/// What a file holds, unpacked if it is gzipped: as much of it as is asked for, and no more.
class UnpackedFile {
 public:
  /// Throws IoError, as InputFile.
  explicit UnpackedFile(const std::filesystem::path& path);
  ~UnpackedFile();
  UnpackedFile(UnpackedFile&&) noexcept;
  UnpackedFile& operator=(UnpackedFile&&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return file_.name(); }
  /// More bytes than this cannot come.
  [[nodiscard]] std::uint64_t most_left() const noexcept;

  /// Fills `to` with the bytes that come next and returns how many came: fewer only at the end.
  /// Throws IoError if the file cannot be read or is not what gzip writes.
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> to);

 private:
  class Inflater;

  InputFile file_;
  std::unique_ptr<Inflater> inflater_;  // null: not gzipped
};

}  // namespace medley::data
