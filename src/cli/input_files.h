#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "medley/gaussian_design.h"
#include "medley/policy.h"

namespace medley::cli {

// Files that options name. A file that cannot be read is an IoError; one that says something
// impossible is an InvalidArgument that begins with the file's name.

/// The whole of a regular file, or standard input for "-"; at most 1 GiB.
[[nodiscard]] std::string read_text(const std::string& path);

/// Class labels, one whole number per line.
[[nodiscard]] std::vector<std::int64_t> read_labels(const std::string& path);
[[nodiscard]] std::vector<std::int64_t> labels_from_text(std::string_view text,
                                                         const std::string& name);

/// The moments of a Gaussian mask as JSON, schema "medley.design/1": "height", "width" and "mean"
/// of the partner's weight with either "matrix" (pixels x pixels; "mean" may be a list of one
/// number per pixel) or "rows" (height x height) and "columns" (width x width).
[[nodiscard]] std::shared_ptr<const GaussianDesign> read_design(const std::string& path);
[[nodiscard]] GaussianDesign design_from_json(std::string_view text, const std::string& name);

/// Gray pictures as masks: white (255) is the own image, black the partner. All have one size.
[[nodiscard]] std::shared_ptr<const MaskSet> read_masks(const std::vector<std::string>& paths);

}  // namespace medley::cli
