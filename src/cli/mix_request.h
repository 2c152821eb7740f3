#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "medley/mix.h"
#include "medley/policy.h"
#include "medley/types.h"

namespace medley::cli {

/// What files and folders have in common.
struct MixRequest {
  MixPolicy policy;
  std::uint64_t seed = 0;
  bool overwrite = false;
  bool exif = true;  ///< images are turned as their Exif orientation says
  MixOptions mix;
  bool json = false;
  bool quiet = false;
};

/// Two files (or more, for methods that mix more), one picture.
struct FilesRequest : MixRequest {
  std::vector<std::string> inputs;
  bool n_given = false;     ///< `policy.n` was asked for; otherwise it is the number of files
  std::string output;       ///< empty: FIRST-mixed.png in the current folder, not replaced unless
                            ///< `overwrite`; a named output is replaced anyway
  std::string mask_output;  ///< empty: no mask file
};

/// A folder of images as a data set, a folder of pictures.
struct FolderRequest : MixRequest {
  std::string input;
  std::string output;
  std::int64_t count = 0;
  std::optional<ImageSize> size;  ///< absent: the first image's
  std::string labels_file;
  bool skip_broken = false;
  bool masks = false;  ///< put mask values into plan.json
  /// Mask values planned for at a time, 256 MiB; the result does not depend on it.
  std::int64_t piece_values = std::int64_t{1} << 26;
};

// Both mix, write and report; nothing is written unless all of it can be. They throw medley::Error.
void mix_files(const FilesRequest& request);
void mix_folder(const FolderRequest& request);

}  // namespace medley::cli
