#pragma once

#include <filesystem>
#include <string_view>

namespace medley::train {

/// Makes `content` the content of a file, durably, by adding to its end what is new: what is there
/// already stays in place, so that others can follow the file. Only where it says something else,
/// as after a crash, is it cut off first. Something that is not a regular file with this one name
/// is replaced. Throws IoError; then the file ends where it did, or where it began to differ.
void grow_file(const std::filesystem::path& path, std::string_view content);

}  // namespace medley::train
