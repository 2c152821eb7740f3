#include "cli/output_options.h"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/options.h"
#include "medley/backend.h"
#include "medley/policy.h"

namespace medley::cli {
namespace {

constexpr std::array<std::string_view, 4> kBackends = {"auto", "cpu", "cuda", "reference"};

/// An option of a method that has no effect beside another one.
struct Overridden {
  std::string_view option;
  std::string_view by;
  std::string_view except = "";  // a method that uses it all the same
};

/// The weights of the other images of nmixup are drawn where that of the own one is fixed.
constexpr std::array<Overridden, 8> kOverridden = {{{"alpha", "lam", "nmixup"},
                                                    {"beta", "lam"},
                                                    {"alpha", "power"},
                                                    {"ratio", "gamma"},
                                                    {"alpha", "design"},
                                                    {"beta", "design"},
                                                    {"sigma", "design"},
                                                    {"length", "design"}}};

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

void note_unused(const PolicyOptions& options, const std::string& method, bool quiet) {
  for (const std::string& option : options.unused()) {
    print_note(fmt::format("{} is not used by method {}", option, method), quiet);
  }
  note_overridden(
      {method}, [&](std::string_view option) { return options.given(fmt::format("--{}", option)); },
      quiet);
}

void note_overridden(const std::vector<std::string>& methods,
                     const std::function<bool(std::string_view option)>& given, bool quiet) {
  for (const Overridden& o : kOverridden) {
    if (!given(o.option) || !given(o.by)) continue;
    bool used = false;
    bool effective = false;
    for (const std::string& name : methods) {
      const MethodInfo& method = get_method(name);
      if (!method.uses(o.option)) continue;
      used = true;
      effective = effective || name == o.except || !method.uses(o.by);
    }
    if (used && !effective) {
      print_note(fmt::format("--{} is not used beside --{}", o.option, o.by), quiet);
    }
  }
}

std::string to_text(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace medley::cli
