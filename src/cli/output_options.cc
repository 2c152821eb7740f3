#include "cli/output_options.h"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "medley/mix.h"

namespace medley::cli {
namespace {

constexpr std::array<std::string_view, 4> kBackends = {"auto", "cpu", "cuda", "reference"};

}  // namespace

void OutputOptions::add_to(CLI::App& app, const std::string& schema) {
  const char* group = "Output";
  app.add_flag("--json", json, fmt::format("print one JSON object ({})", schema))->group(group);
  app.add_flag("-q,--quiet", quiet, "no notes and no progress bar")->group(group);
}

void BackendOptions::add_to(CLI::App& app) {
  const char* group = "Running";
  add_word(
      app, "--backend", kBackends, 0,
      [this](std::size_t i) { mix.backend = backend_from_name(kBackends[i]); },
      "where to mix; every backend gives the same bits")
      ->group(group);
  add_integer(app, "--threads", mix.threads, "threads to use, 0 for all cores")->group(group);
}

void add_seed(CLI::App& app, std::uint64_t& seed) {
  add_integer(app, "--seed", seed, "start of the random numbers, 0 to 2^64-1")->group("Draws");
}

std::string to_text(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace medley::cli
