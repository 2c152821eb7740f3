#include "support/program.h"

#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "support/machine.h"

namespace medley::bench {

using Json = nlohmann::ordered_json;

void write_results(const std::string& out, const std::string& stem, const Json& results) {
  std::filesystem::path path = out;
  if (std::filesystem::is_directory(path)) {
    path /= fmt::format("{}-{}.json", stem, slug(cpu_model()));
  }
  std::ofstream stream(path);
  stream << results.dump(1) << '\n';
  if (!stream.flush()) throw std::runtime_error("cannot write " + path.string());
  fmt::print("written to {}\n", path.string());
}

int run_program(const Program& program, int argc, char** argv) {
  CLI::App app(program.title);
  std::string out;
  std::string commit = "unknown";
  int rounds = 15;
  app.add_option("--out", out, fmt::format("JSON file, or folder for {}-CPU.json", program.stem))
      ->take_last();
  app.add_option("--commit", commit, "to be noted in the result");
  app.add_option("--rounds", rounds, "rounds, each timing everything once");
  CLI11_PARSE(app, argc, argv);
  try {
    Json context = describe_machine();
    context["commit"] = commit;
    context["rounds"] = rounds;
    context["load_average_before"] = load_average();
    const Json results = program.measure(rounds, context);
    context["load_average_after"] = load_average();
    if (out.empty()) return 0;
    write_results(out, program.stem,
                  {{"schema", fmt::format("medley.bench_{}/1", program.stem)},
                   {"context", context},
                   {"results", results}});
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "error: {}\n", problem.what());
    return 1;
  }
}

}  // namespace medley::bench
