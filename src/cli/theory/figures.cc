#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/staged_output.h"
#include "cli/theory/theory.h"
#include "medley/data/image.h"
#include "report/theory_figures.h"

namespace medley::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley theory figures --out figures\n"
    "  medley theory figures --out docs/images/theory --json";

struct FiguresCommand {
  OutputOptions output;
  std::string folder = "medley-figures";
};

int run(const FiguresCommand& command) {
  const fs::path folder = command.folder;
  nlohmann::ordered_json report = {{"schema", "medley.figures/1"}};
  std::string text;
  StagedFolder output(folder);
  for (const report::NamedFigure& figure : report::theory_figures()) {
    const fs::path name = figure.name + ".png";
    output.write(name, data::encode_png(figure.image));
    report["figures"][figure.name] = (folder / name).string();
    text += (folder / name).string() + '\n';
  }
  output.commit();
  print(command.output.json ? to_text(report) : text);
  return kDone;
}

}  // namespace

Command add_figures(CLI::App& theory) {
  CLI::App* app = theory.add_subcommand("figures", "Draw the figures of the theory");
  app->footer(kFooter);
  const auto command = std::make_shared<FiguresCommand>();
  add_path(*app, "--out", command->folder, "DIR", "folder for the PNG files; existing are replaced")
      ->default_str(command->folder)
      ->group("Pictures");
  command->output.add_to(*app, "medley.figures/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
