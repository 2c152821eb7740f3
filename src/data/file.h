#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace medley {

/// Of files that are read whole: pictures and tables are not larger, data sets and weights may be.
inline constexpr std::size_t kPlainSize = std::size_t{1} << 30;
inline constexpr std::size_t kAnySize = SIZE_MAX;

/// The whole file. Throws IoError, also if it has more than `most` bytes.
[[nodiscard]] std::vector<std::uint8_t> read_file(const std::filesystem::path& path,
                                                  std::size_t most = kPlainSize);

/// Writes under a temporary name in the same directory, then renames: after an IoError neither a
/// temporary nor a partial file remains, and a file that was there before is untouched.
void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// The same, and a crash of the machine at any moment leaves the old or the new content: the file
/// is flushed before it is renamed, and its folder afterwards. A killed process may leave the
/// temporary file behind; it has one name, so that the next call replaces it.
void write_file_durably(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// Whether a file is such a temporary one.
[[nodiscard]] bool is_leftover(const std::filesystem::path& path);

}  // namespace medley
