#pragma once

#include <cstdint>
#include <string>

#include <CLI/App.hpp>
#include <nlohmann/json_fwd.hpp>

#include "medley/mix.h"

namespace medley::cli {

/// How a verb reports.
struct OutputOptions {
  bool json = false;
  bool quiet = false;

  /// `schema` names what --json prints.
  void add_to(CLI::App& app, const std::string& schema);
};

/// --backend and --threads; `backend` and `threads` of the result are to be used.
struct BackendOptions {
  MixOptions mix;

  void add_to(CLI::App& app);
};

/// --seed, default 0: the same command gives the same result.
void add_seed(CLI::App& app, std::uint64_t& seed);

/// The object on one line, with a newline. Bytes that are not UTF-8 (in file names) are replaced.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& object);

}  // namespace medley::cli
