#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace medley {

/// Replaces a file so that a crash at any moment leaves the old or the new content: written under a
/// temporary name in the same folder, flushed to the disk, renamed, and the folder flushed. Throws
/// IoError, and removes the temporary file, if any step fails.
void write_durably(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
void write_durably(const std::filesystem::path& path, std::string_view text);

/// Whether a file name is one that write_durably uses on its way, left behind by a crash.
[[nodiscard]] bool is_leftover(const std::filesystem::path& path);

}  // namespace medley
