#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "medley/data/dataset.h"

namespace medley {

/// The whole file, unpacked if it is gzipped: at most `most` bytes. Throws IoError.
[[nodiscard]] std::vector<std::uint8_t> read_maybe_gzipped(const std::filesystem::path& path,
                                                           std::size_t most);

/// The lines of a text file without empty ones, or none if there is no such file.
[[nodiscard]] std::vector<std::string> read_names(const std::filesystem::path& path);

/// "0", "1", …
[[nodiscard]] std::vector<std::string> numbered_names(std::int64_t count);

/// Both sets together, classes named by their numbers. Throws IoError unless both hold images, of
/// the same shape.
[[nodiscard]] ImageData data_of(ImageSet train, ImageSet test, const std::filesystem::path& folder);

}  // namespace medley
