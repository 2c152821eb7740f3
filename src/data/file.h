#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace medley::data {

/// Of files that are read whole: images and tables are not larger, data sets and weights may be.
inline constexpr std::size_t kPlainSize = std::size_t{1} << 30;
inline constexpr std::size_t kAnySize = SIZE_MAX;

/// The whole of a regular file. Throws IoError, also if it has more than `most` bytes, and then
/// reads none.
[[nodiscard]] std::vector<std::uint8_t> read_file(const std::filesystem::path& path,
                                                  std::size_t most = kPlainSize);

/// Of temporary names; a durable one is that of the file with the last behind it.
inline constexpr std::string_view kTemporaryPrefix = ".medley-";
inline constexpr std::string_view kTemporarySuffix = ".tmp";
inline constexpr std::string_view kPartSuffix = ".part";

/// A name that nothing has, by chance: process numbers repeat in containers, where a killed process
/// may have left its files.
[[nodiscard]] std::filesystem::path temporary_in(const std::filesystem::path& folder,
                                                 std::string_view suffix);

/// Opens a new file for writing; fails if anything lies under the name, a link too. Returns the
/// descriptor, or -1 with `errno`.
[[nodiscard]] int create_file(const std::filesystem::path& name);

/// Writes everything and, if asked to, flushes it to the disk; false with `errno` if that fails.
enum class Flush : bool { no, yes };
[[nodiscard]] bool write_all(int descriptor, std::span<const std::uint8_t> bytes, Flush flush);

/// Closes what was written; false with `errno` if that fails.
[[nodiscard]] bool close_file(int descriptor) noexcept;

/// Writes under a temporary name in the same directory, then renames: after an IoError neither a
/// temporary nor a partial file remains, and a file that was there before is untouched.
void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// The same, and a crash of the machine at any moment leaves the old or the new content: the file
/// is flushed before it is renamed, and its folder afterwards. A killed process may leave the
/// temporary file behind; it has one name, so that the next call replaces it.
void write_file_durably(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

/// Makes the content of a file survive a crash of the machine. Throws IoError.
void flush_file(const std::filesystem::path& path);

/// Makes what was renamed in, added to or removed from a folder survive a crash of the machine; the
/// empty path is the current folder. Throws IoError.
void flush_folder(const std::filesystem::path& folder);

/// Whether a name begins with a dot: what other programs keep beside images.
[[nodiscard]] bool is_hidden(const std::filesystem::path& path);

}  // namespace medley::data
