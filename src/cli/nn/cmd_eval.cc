#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
#include "medley/error.h"
#include "medley/nn/evaluate.h"
#include "medley/report/charts.h"
#include "medley/report/pictures.h"

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
  std::string against;
  std::string gallery;
};

/// "93.25 %" of a class that are right, or "–" if it has no test images.
std::string recall(const nn::Evaluation& e, std::int64_t c) {
  const auto row = e.confusion.begin() + c * e.classes;
  const std::int64_t all = std::accumulate(row, row + e.classes, std::int64_t{0});
  if (all == 0) return fmt::format("{:>6}", "–");
  return fmt::format("{:6.2f} %", 100.0 * static_cast<double>(row[c]) / static_cast<double>(all));
}

/// Some of the images that only the first network gets right: classes take turns.
data::Image gallery_of(const nn::Comparison& comparison, const nn::Evaluation& other,
                       const data::ImageData& data) {
  constexpr std::size_t kMost = 24;
  std::map<std::int64_t, std::size_t> of_class;
  std::vector<std::pair<std::size_t, std::int64_t>> turns;
  for (const std::int64_t i : comparison.gained) {
    const std::int64_t label = data.test.labels[static_cast<std::size_t>(i)];
    turns.emplace_back(of_class[label]++, i);
  }
  std::ranges::stable_sort(turns, {}, &std::pair<std::size_t, std::int64_t>::first);
  turns.resize(std::min(turns.size(), kMost));
  std::vector<report::GridPicture> pictures;
  for (const auto& [turn, i] : turns) {
    const auto at = static_cast<std::size_t>(i);
    const auto name = [&](std::int64_t c) { return data.classes[static_cast<std::size_t>(c)]; };
    pictures.push_back({data::image_at(data.test, i),
                        {name(data.test.labels[at]), "not " + name(other.predicted[at])}});
  }
  return report::draw_grid(pictures);
}

void draw_gallery(const EvalCommand& command, const nn::Comparison& comparison,
                  const nn::Evaluation& other, const data::ImageData& data) {
  const data::Image picture = gallery_of(comparison, other, data);
  if (picture.size.pixels() == 0) {
    print_note(fmt::format("{} is not written: there is no image that only this network gets right",
                           command.gallery),
               command.output.quiet);
    return;
  }
  write_staged(command.gallery, data::encode_png(picture));
  print_note(fmt::format("{} shows images that only this network gets right, and what the other "
                         "took them for",
                         command.gallery),
             command.output.quiet);
}

int run(const EvalCommand& command) {
  if (!command.confusion.empty()) check_place(command.confusion);
  if (!command.gallery.empty()) {
    check_place(command.gallery);
    if (command.against.empty()) {
      throw InvalidArgument("--gallery compares two networks: name the other with --against");
    }
  }
  const nn::Device device = command.data.device();
  const data::ImageData data = command.data.open_test();
  const nn::Evaluation e =
      nn::evaluate_file(command.checkpoint, data, command.data.threads, device);
  std::optional<nn::Comparison> comparison;
  if (!command.against.empty()) {
    const nn::Evaluation other =
        nn::evaluate_file(command.against, data, command.data.threads, device);
    comparison = nn::compare(e, other, data.test.labels);
    if (!command.gallery.empty()) draw_gallery(command, *comparison, other, data);
  }
  DataOptions::note_left_out(data, command.output.quiet);
  if (!command.confusion.empty()) {
    const std::string caption = fmt::format("{} test images, {:.2f} % right.", e.count, e.top1);
    write_staged(command.confusion,
                 data::encode_png(report::draw_confusion(e.confusion, data.classes, caption)));
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
    if (comparison) {
      report["against"] = {{"checkpoint", command.against},
                           {"both_right", comparison->both},
                           {"only_this", comparison->gained},
                           {"only_other", comparison->lost},
                           {"both_wrong", comparison->neither}};
    }
    print(to_text(report));
    return kDone;
  }
  std::string text =
      fmt::format("{} images: top 1 {:.2f} %, top 5 {:.2f} %\n", e.count, e.top1, e.top5);
  for (std::int64_t c = 0; c < e.classes; ++c) {
    text += fmt::format("  {:<20} {}\n", data.classes[static_cast<std::size_t>(c)], recall(e, c));
  }
  if (comparison) {
    text += fmt::format(
        "beside {}: {} images that both get right, {} only this one, {} only the other, {} "
        "neither\n",
        command.against, comparison->both, comparison->gained.size(), comparison->lost.size(),
        comparison->neither);
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
  add_path(*app, "--against", command->against, "FILE",
           "another network, on the same images: which of them only one gets right")
      ->group("Output");
  add_png(*app, "--gallery", command->gallery,
          "picture of images that only the first network gets right")
      ->group("Output");
  command->output.add_to(*app, "medley.eval/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
