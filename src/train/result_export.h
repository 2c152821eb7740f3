#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace medley::train {

/// Copies the result.json of finished runs as MODEL-METHOD-seedN.json, all or, if one cannot be,
/// none. Returns their paths. A file that is there with the same content is left. Throws
/// InvalidArgument for a run that is not finished and for a file of other content, IoError.
std::vector<std::filesystem::path> export_runs(std::span<const std::filesystem::path> runs,
                                               const std::filesystem::path& folder);

}  // namespace medley::train
