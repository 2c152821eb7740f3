#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "medley/data/dataset.h"

namespace medley::data {

/// The lines of a text file without empty ones, or none if there is no such file. Throws IoError if
/// it is no regular file or larger than lists of names are.
[[nodiscard]] std::vector<std::string> read_names(const std::filesystem::path& path);

/// "0", "1", …
[[nodiscard]] std::vector<std::string> numbered_names(std::int64_t count);

/// Both sets together, classes named by their numbers. Throws IoError unless both hold images, of
/// the same shape.
[[nodiscard]] ImageData data_of(ImageSet train, ImageSet test, const std::filesystem::path& folder);

/// The test set alone, with the classes of the training set; without any labels of that, with its
/// own. Throws IoError unless it holds images, all of these classes.
[[nodiscard]] ImageData test_data_of(ImageSet test, const std::vector<std::int64_t>& train_labels,
                                     const std::filesystem::path& folder);

}  // namespace medley::data
