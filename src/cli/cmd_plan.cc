#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/input_files.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/plan_table.h"
#include "cli/policy_options.h"
#include "cli/staged_output.h"
#include "medley/error.h"
#include "medley/plan.h"
#include "medley/sampler.h"

namespace medley::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  medley plan --method hmix --batch 8 --height 32 --width 48 --seed 7\n"
    "  medley plan --method cutmix --pairing dataset --dataset-size 50000 --batch 4 --json";

/// Of a pixel of a mask as JSON, at least, measured: as a JSON value and text; and of one mask
/// while it is made.
constexpr double kBytesOfMaskPixel = 26;
constexpr double kBytesOfMaskInHand = 30;

struct PlanCommand {
  PolicyOptions policy;
  OutputOptions output;
  std::int64_t batch = 8;
  std::int64_t first = 0;
  std::optional<std::int64_t> count;
  std::uint64_t epoch = 0;
  std::uint64_t seed = 0;
  std::int64_t dataset_size = 0;
  ImageSize size = {32, 32};
  std::int32_t threads = 0;
  bool masks = false;
  std::string labels_file;
  std::string output_file;
  std::string validate_file;
};

/// Reads a plan and says whether it is one.
int validate_file(const PlanCommand& command) {
  const std::string text = read_text(command.validate_file);
  nlohmann::ordered_json report = {{"schema", "medley.validation/1"}, {"valid", true}};
  std::string line;
  try {
    const MixPlan plan = plan_from_json(text);
    report["method"] = plan.method;
    report["entries"] = plan.entries.size();
    line = fmt::format("valid: {}, {} entries of {}x{}, seed {}\n", plan.method,
                       plan.entries.size(), plan.size.height, plan.size.width, plan.seed);
  } catch (const InvalidArgument& problem) {
    report["valid"] = false;
    report["reason"] = problem.what();
    line = fmt::format("not valid: {}\n", printable(problem.what()));
  }
  print(command.output.json ? to_text(report) : line);
  return report["valid"] ? kDone : kRejected;
}

MixPlan draw(const PlanCommand& command) {
  std::vector<std::int64_t> labels;
  if (!command.labels_file.empty()) labels = read_labels(command.labels_file);
  if (command.count && *command.count < 1) {
    throw InvalidArgument(fmt::format("count must be > 0, got {}", *command.count));
  }
  const MixPolicy policy = command.policy.policy();
  if (policy.classes != ClassRule::any && labels.empty()) {
    throw InvalidArgument(
        "--same-class and --other-class need the classes of the images: --labels FILE");
  }
  if (policy.pairing == Pairing::dataset && command.dataset_size == 0) {
    throw InvalidArgument("--pairing dataset needs the number of images: --dataset-size N");
  }
  const Sampler sampler(policy, command.size, command.seed);
  if (command.masks && (command.output.json || !command.output_file.empty())) {
    const std::int64_t count = command.count.value_or(command.batch);
    require_memory(static_cast<double>(command.size.pixels()) *
                       (kBytesOfMaskPixel * static_cast<double>(count) + kBytesOfMaskInHand),
                   fmt::format("the masks of {} of {}x{} (height x width) as JSON",
                               samples_text(static_cast<std::size_t>(count)), command.size.height,
                               command.size.width));
  }
  PlanRequest request;
  request.batch = command.batch;
  request.first = command.first;
  request.count = command.count.value_or(-1);
  request.epoch = command.epoch;
  request.dataset_size = command.dataset_size;
  request.labels = labels;
  request.threads = command.threads;
  return sampler.plan(request);
}

int run(const PlanCommand& command) {
  if (!command.validate_file.empty()) return validate_file(command);
  const MixPlan plan = draw(command);
  command.policy.note_unused(command.output.quiet);
  if (!command.output_file.empty()) {
    write_staged(command.output_file, bytes_of(to_json(plan, command.masks) + '\n'));
    print_note(fmt::format("plan of {} written to {} (seed {})", samples_text(plan.entries.size()),
                           command.output_file, plan.seed),
               command.output.quiet);
    return kDone;
  }
  if (command.masks && !command.output.json) {
    print_note("--masks adds the masks to JSON only; add --json", command.output.quiet);
  }
  print(command.output.json ? to_json(plan, command.masks) + '\n' : plan_table(plan));
  return kDone;
}

}  // namespace

Command add_plan(CLI::App& program) {
  CLI::App* app = program.add_subcommand("plan", "Draw what a batch is mixed from, without pixels");
  app->footer(kFooter);
  const auto command = std::make_shared<PlanCommand>();

  const char* samples = "Samples";
  add_integer(*app, "--batch", command->batch, "batch size, at least 1")->group(samples);
  add_integer(*app, "--first", command->first,
              "ordinal of the first sample in its epoch; a multiple of the batch size unless mode "
              "is sample and pairing dataset")
      ->group(samples);
  add_integer(*app, "--count", command->count, "samples to plan; a last batch may be short",
              "the batch size")
      ->group(samples);
  add_integer(*app, "--height", command->size.height, "height of the images in pixels")
      ->group(samples);
  add_integer(*app, "--width", command->size.width, "width of the images in pixels")
      ->group(samples);
  add_integer(*app, "--dataset-size", command->dataset_size,
              "images in the data set; needed by --pairing dataset")
      ->default_str("unknown")
      ->group(samples);
  add_path(*app, "--labels", command->labels_file, "FILE",
           "classes for --same-class and --other-class, one whole number per line: of the data "
           "set if its size is given, else of the samples")
      ->group(samples);

  command->policy.add_to(*app, Pairing::batch);
  add_seed(*app, command->seed);
  add_integer(*app, "--epoch", command->epoch, "epoch; each has draws of its own")->group("Draws");
  add_integer(*app, "--threads", command->threads,
              "threads to use, 0 for all cores; the plan is the same")
      ->group("Draws");

  command->output.add_to(*app, "medley.plan/2");
  app->add_flag("--masks", command->masks, "add each mask to the JSON, as rows of numbers")
      ->group("Output");
  add_path(*app, "-o,--output", command->output_file, "FILE",
           "write the JSON to a file instead of printing the plan")
      ->group("Output");
  add_path(*app, "--validate", command->validate_file, "FILE",
           "draw nothing: check that a file (- for standard input) holds a plan; exit code 3 if "
           "not")
      ->group("Output");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
