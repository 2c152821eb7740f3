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

namespace {

/// JSON with a line for each member or element whose text is short enough for one.
std::string text_of(const Json& value, std::size_t depth) {
  constexpr std::size_t kLine = 160;
  std::string line = value.dump();
  if (!value.is_structured() || value.empty()) return line;
  bool nested = false;
  for (const Json& item : value) nested |= item.is_structured();
  if (!nested && line.size() <= kLine) return line;
  const bool object = value.is_object();
  const std::string indent(depth + 1, ' ');
  std::string text(1, object ? '{' : '[');
  for (auto item = value.begin(); item != value.end(); ++item) {
    text += item == value.begin() ? "\n" : ",\n";
    text += indent;
    if (object) text += Json(item.key()).dump() + ": ";
    // Pairs of offsets and lists of numbers stay on one line, however long.
    const bool numbers = item->is_array() && !item->empty() && !item->front().is_object() &&
                         !item->front().is_string();
    text += numbers ? item->dump() : text_of(*item, depth + 1);
  }
  return text + '\n' + std::string(depth, ' ') + (object ? '}' : ']');
}

}  // namespace

void write_results(const std::string& out, const std::string& stem, const Json& results) {
  std::filesystem::path path = out;
  if (std::filesystem::is_directory(path)) {
    path /= fmt::format("{}-{}.json", stem, slug(cpu_model()));
  }
  std::ofstream stream(path);
  stream << text_of(results, 0) << '\n';
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
