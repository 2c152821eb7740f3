#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "medley/mix.h"
#include "medley/policy.h"
#include "medley/types.h"

namespace medley::cli {

/// Two files (or more, for methods that mix more), one picture.
struct FilesRequest {
  std::vector<std::string> inputs;
  MixPolicy policy;
  bool n_given = false;  ///< `policy.n` was asked for; otherwise it is the number of files
  std::uint64_t seed = 0;
  std::string output;       ///< empty: FIRST-mixed.png in the current folder
  std::string mask_output;  ///< empty: no mask file
  bool overwrite = false;   ///< for the default name only; a named output is replaced anyway
  MixOptions mix;
  bool json = false;
  bool quiet = false;
};

/// A folder of images as a data set, a folder of pictures.
struct FolderRequest {
  std::string input;
  std::string output;
  std::int64_t count = 0;
  MixPolicy policy;
  std::uint64_t seed = 0;
  std::optional<ImageSize> size;  ///< absent: the first image's
  std::string labels_file;
  bool overwrite = false;
  bool skip_broken = false;
  bool masks = false;  ///< put mask values into plan.json
  /// Mask values planned for at a time, 256 MiB; the result does not depend on it.
  std::int64_t piece_values = std::int64_t{1} << 26;
  MixOptions mix;
  bool json = false;
  bool quiet = false;
};

// Both mix, write and report; nothing is written unless all of it can be. They throw medley::Error.
void mix_files(const FilesRequest& request);
void mix_folder(const FolderRequest& request);

}  // namespace medley::cli
