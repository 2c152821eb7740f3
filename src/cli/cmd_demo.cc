#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/demo_folder.h"
#include "cli/help_format.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/progress.h"
#include "cli/staged_output.h"
#include "medley/data/dataset.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/policy.h"
#include "medley/report/pictures.h"
#include "report/demo_page.h"

namespace medley::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley demo --out demo\n"
    "  medley demo cat.png dog.png --out demo --tile 128\n"
    "  medley demo --page --out demo";

struct DemoCommand {
  OutputOptions output;
  std::vector<std::string> inputs;
  std::string folder = "medley-demo";
  report::ContactSheetOptions sheet;
  bool page = false;
};

/// Pictures that a sheet shows: those that a method mixes.
std::size_t most_shown() {
  std::int32_t most = 2;
  for (const MethodInfo* method : methods()) most = std::max(most, Method(method->name).sources());
  return static_cast<std::size_t>(most);
}

/// Pictures to try commands with, by the names of their files.
std::vector<std::pair<std::string, data::Image>> drawn_pictures() {
  constexpr ImageSize kSize{256, 256};
  constexpr std::pair<std::int32_t, std::int64_t> kPictures[] = {{0, 9}, {2, 26}, {1, 3}, {4, 14},
                                                                 {6, 8}, {9, 21}};  // class, index
  std::vector<std::pair<std::string, data::Image>> pictures;
  for (const auto& [object_class, index] : kPictures) {
    const std::string name = std::string(data::synthetic_class_name(object_class)) + ".png";
    pictures.emplace_back(name, data::synthetic_image(/*seed=*/1, index, object_class, kSize));
  }
  return pictures;
}

int write_page(const DemoCommand& command) {
  if (!command.inputs.empty()) {
    throw InvalidArgument("--page draws nothing: leave out the pictures");
  }
  const fs::path file = fs::path(command.folder) / "index.html";
  write_staged(file, bytes_of(report::demo_page(read_demo_folder(command.folder))));
  const nlohmann::ordered_json report = {{"schema", "medley.demo/1"}, {"page", file.string()}};
  print(command.output.json
            ? to_text(report)
            : fmt::format("{} shows what is in {}\n", file.string(), command.folder));
  return kDone;
}

int run(DemoCommand& command) {
  if (command.page) return write_page(command);
  report::ContactSheetOptions& sheet = command.sheet;
  for (const std::string& path : command.inputs) {
    sheet.sources.push_back(data::read_image(path, {.exif = true}));
  }
  const std::vector<report::SheetRow> rows = report::default_sheet_rows();
  if (command.inputs.size() > most_shown()) {
    print_note(
        fmt::format("the first {} of {} pictures are shown", most_shown(), command.inputs.size()),
        command.output.quiet);
  }
  nlohmann::ordered_json report = {{"schema", "medley.demo/1"}, {"seed", sheet.seed}};
  const fs::path folder = command.folder;
  const fs::path sheet_name = "contact_sheet.png";

  watch_interrupts();
  StagedFolder output(folder);
  {
    Progress progress("drawing", std::ssize(rows) + 1, command.output.quiet);
    output.write(sheet_name, data::encode_png(report::contact_sheet(sheet)));
    progress.tick();
    for (const auto& [name, picture] : drawn_pictures()) {
      const fs::path file = fs::path("pictures") / name;
      output.write(file, data::encode_png(picture));
      report["pictures"].push_back((folder / file).string());
    }
    for (const report::SheetRow& row : rows) {
      check_interrupt();
      const fs::path name = fs::path("methods") / (row.policy.method.info().name + ".png");
      output.write(name, data::encode_png(report::method_picture(row, sheet)));
      report["methods"][row.policy.method.info().name] = (folder / name).string();
      progress.tick();
    }
  }
  output.commit();

  report["contact_sheet"] = (folder / sheet_name).string();
  const std::string line = fmt::format(
      "{0} shows every method, {1} one each (seed {2}); next, try: medley mix {3} {4} --method "
      "hmix\n",
      (folder / sheet_name).string(), (folder / "methods").string(), sheet.seed,
      report["pictures"][0].get<std::string>(), report["pictures"][1].get<std::string>());
  print(command.output.json ? to_text(report) : line);
  return kDone;
}

}  // namespace

Command add_demo(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("demo", "Draw pictures, mix them with every method, show the results");
  app->footer(kFooter);
  const auto command = std::make_shared<DemoCommand>();
  app->add_option("IMAGES", command->inputs,
                  "your own pictures (PNG or JPEG), the own image first; others are drawn");
  add_path(
      *app, "--out", command->folder, "DIR",
      "folder for contact_sheet.png, methods/METHOD.png and pictures/NAME.png; existing ones are "
      "replaced")
      ->default_str(command->folder)
      ->group("Pictures");
  app->add_flag("--page", command->page,
                "draw nothing; show what is in the folder, and in its theory and runs, as a page, "
                "index.html")
      ->group("Pictures");
  add_integer(*app, "--tile", command->sheet.tile, "side of a picture in pixels, 16 to 1024")
      ->group("Pictures");
  add_seed(*app, command->sheet.seed);
  command->output.add_to(*app, "medley.demo/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
