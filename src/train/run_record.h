#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "medley/train/result.h"

namespace medley::train {

/// What a run needs beside its recipe to be gone on with, and how it was begun: run.json.
struct RunRecord {
  std::uint64_t seed = 0;
  DataChoice data;
  std::string weights = {};                      ///< file that it starts from; empty: none
  std::optional<std::string> weights_hash = {};  ///< its hash
  std::int32_t threads = 0;                      ///< 0: all cores
  std::string device = "cpu";                    ///< or "cuda"
  std::string precision = "f32";
  bool deterministic = false;
  std::string version = {};               ///< of Medley
  std::string libtorch = {};              ///< its version
  std::vector<std::string> command = {};  ///< that began it, a word each
  std::string directory = {};             ///< where that was

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// One object with the schema "medley.run/1".
[[nodiscard]] std::string to_json(const RunRecord& record);

/// The run.json of a folder; none if it has none. Throws IoError with the field, also for other
/// schemas.
[[nodiscard]] std::optional<RunRecord> read_run_record(const std::filesystem::path& folder);

}  // namespace medley::train
