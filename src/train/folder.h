#pragma once

#include <filesystem>
#include <vector>

namespace medley::train {

/// Everything in a folder, in no order; nothing if there is none. Throws IoError if that cannot be
/// known: a folder that cannot be read is not an empty one.
[[nodiscard]] std::vector<std::filesystem::path> list_folder(const std::filesystem::path& folder);

/// Makes a folder and those above it, durably. Throws IoError.
void make_folder(const std::filesystem::path& folder);

}  // namespace medley::train
