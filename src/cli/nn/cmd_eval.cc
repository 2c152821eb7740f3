#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/nn/commands.h"
#include "cli/nn/run_options.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/staged_output.h"
#include "medley/data/image.h"
#include "medley/nn/evaluate.h"
#include "medley/report/confusion.h"

namespace medley::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  medley eval --checkpoint runs/a/weights.safetensors --data synthetic --confusion c.png\n"
    "  medley eval --checkpoint runs/a/checkpoint-0000000100.medley --data synthetic --json";

struct EvalCommand {
  OutputOptions output;
  DataOptions data;
  std::string checkpoint;
  std::string confusion;
};

double recall(const nn::Evaluation& e, std::int64_t c) {
  const auto row = e.confusion.begin() + c * e.classes;
  std::int64_t all = 0;
  for (std::int64_t k = 0; k < e.classes; ++k) all += row[k];
  return all == 0 ? 0 : 100.0 * static_cast<double>(row[c]) / static_cast<double>(all);
}

int run(const EvalCommand& command) {
  if (!command.confusion.empty()) check_place(command.confusion);
  const nn::Device device = command.data.device();
  const ImageData data = command.data.open();
  const nn::Evaluation e =
      nn::evaluate_file(command.checkpoint, data, command.data.threads, device);
  DataOptions::note_left_out(data, command.output.quiet);
  if (!command.confusion.empty()) {
    const std::string caption = fmt::format("{} test images, {:.2f} % right.", e.count, e.top1);
    write_staged(command.confusion, encode_png(draw_confusion(e.confusion, data.classes, caption)));
    print_note(fmt::format("{} shows which classes were taken for which", command.confusion),
               command.output.quiet);
  }
  if (command.output.json) {
    nlohmann::ordered_json report = {{"schema", "medley.eval/1"},
                                     {"checkpoint", command.checkpoint},
                                     {"images", e.count},
                                     {"top1", e.top1},
                                     {"top5", e.top5},
                                     {"classes", data.classes}};
    for (std::int64_t c = 0; c < e.classes; ++c) {
      const auto row = e.confusion.begin() + c * e.classes;
      report["confusion"].push_back(std::vector<std::int64_t>(row, row + e.classes));
    }
    print(to_text(report));
    return kDone;
  }
  std::string text =
      fmt::format("{} images: top 1 {:.2f} %, top 5 {:.2f} %\n", e.count, e.top1, e.top5);
  for (std::int64_t c = 0; c < e.classes; ++c) {
    text += fmt::format("  {:<20} {:6.2f} %\n", data.classes[static_cast<std::size_t>(c)],
                        recall(e, c));
  }
  print(text);
  return kDone;
}

}  // namespace

Command add_eval(CLI::App& program) {
  CLI::App* app = program.add_subcommand("eval", "Measure a trained network on the test images");
  app->footer(kFooter);
  const auto command = std::make_shared<EvalCommand>();
  add_path(*app, "--checkpoint", command->checkpoint, "FILE",
           "a checkpoint, or a weights.safetensors beside its recipe.json")
      ->required()
      ->group("Data");
  command->data.add_to(*app);
  add_png(*app, "--confusion", command->confusion, "picture of which classes were taken for which")
      ->group("Output");
  command->output.add_to(*app, "medley.eval/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
