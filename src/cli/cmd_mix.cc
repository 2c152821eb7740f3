#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/mix_request.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/policy_options.h"
#include "core/check.h"
#include "medley/error.h"
#include "medley/mix.h"
#include "medley/policy.h"
#include "plan/check_policy.h"

namespace medley::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  medley mix cat.png dog.png --method gmix --lam 0.65 -o mixed.png --mask-out mask.png\n"
    "  medley mix photos --method cutmix --out mixed --count 100 --size 224x224 --seed 7";

struct MixCommand {
  explicit MixCommand(CLI::App& app) : parser(app) {}

  CLI::App& parser;
  PolicyOptions policy;
  OutputOptions output;
  BackendOptions backend;
  FilesRequest files;
  FolderRequest folder;
  std::uint64_t seed = 0;
  std::optional<std::int64_t> count;
  bool overwrite = false;
  bool no_exif = false;
  std::vector<std::string> inputs;
};

/// Refuses options of the other way to call this verb.
void refuse_options(const MixCommand& command, const std::vector<std::string>& options,
                    std::string_view reason) {
  for (const std::string& option : options) {
    if (command.parser.count(option) > 0) {
      throw InvalidArgument(fmt::format("{} {}", option, reason));
    }
  }
}

void fill_common(const MixCommand& command, MixRequest& request) {
  request.policy = command.policy.policy();
  request.seed = command.seed;
  request.overwrite = command.overwrite;
  request.exif = !command.no_exif;
  request.mix = command.backend.mix;
  request.json = command.output.json;
  request.quiet = command.output.quiet;
  check_policy(request.policy);
  check_threads(request.mix.threads);
  command.policy.note_unused(request.quiet);
}

void run_files(MixCommand& command) {
  refuse_options(command, {"--out", "--count", "--size", "--labels", "--skip-broken", "--masks"},
                 "is for a folder of images; two files are mixed into one, named with -o");
  for (const char* option : {"--pairing", "--mode", "--no-self", "--same-class", "--other-class"}) {
    if (command.policy.given(option)) {
      print_note(
          fmt::format("{} is not used with files: the first is mixed with the second", option),
          command.output.quiet);
    }
  }
  FilesRequest& request = command.files;
  request.inputs = command.inputs;
  fill_common(command, request);
  request.n_given = command.policy.given("--n");
  mix_files(request);
}

void run_folder(MixCommand& command) {
  refuse_options(command, {"-o", "--mask-out"},
                 "is for one picture; the pictures of a folder go to --out");
  FolderRequest& request = command.folder;
  if (request.output.empty() || !command.count) {
    throw InvalidArgument(
        fmt::format("mixing the folder {} needs --out DIR and --count N", command.inputs.front()));
  }
  if (request.labels_file.empty() &&
      (command.policy.given("--same-class") || command.policy.given("--other-class"))) {
    throw InvalidArgument(
        "--same-class and --other-class need the classes of the images: --labels FILE");
  }
  request.input = command.inputs.front();
  request.count = *command.count;
  fill_common(command, request);
  mix_folder(request);
}

/// Refuses a backend that cannot work here before anything is read.
void check_backend(Backend backend) {
  if (backend != Backend::cuda) return;
  const std::vector<Backend> available = available_backends();
  if (std::ranges::find(available, backend) != available.end()) return;
#if MEDLEY_HAS_CUDA
  throw CudaError("backend cuda needs a CUDA device, but none was found; use --backend cpu");
#else
  throw CudaError(
      "this build has no cuda backend; use --backend cpu, or build with MEDLEY_BUILD_CUDA=ON");
#endif
}

int run(MixCommand& command) {
  check_backend(command.backend.mix.backend);
  std::error_code ignored;
  const std::filesystem::path first = command.inputs.front();
  if (command.inputs.size() > 1) {
    run_files(command);
  } else if (std::filesystem::is_directory(first, ignored)) {
    run_folder(command);
  } else {
    throw InvalidArgument(fmt::format(
        "two image files or one folder are needed, got {}, which is no folder", first.string()));
  }
  return kDone;
}

}  // namespace

Command add_mix(CLI::App& program) {
  CLI::App* app = program.add_subcommand("mix", "Mix two image files, or a folder of images");
  app->footer(kFooter);
  const auto command = std::make_shared<MixCommand>(*app);
  app->add_option("IMAGES", command->inputs,
                  "the own image and its partner (PNG or JPEG; more for nmixup), or one folder. "
                  "A partner of another size is resized to the first image")
      ->required();
  app->add_flag("--no-exif", command->no_exif,
                "take pixels as they are stored, not turned as the Exif orientation says");

  const char* one = "One picture";
  add_path(*app, "-o,--output", command->files.output, "FILE.png",
           "the mixed picture; an existing file is replaced")
      ->default_str("FIRST-mixed.png in the current folder, never replaced")
      ->group(one);
  add_path(*app, "--mask-out", command->files.mask_output, "FILE.png",
           "also write the mask: 8-bit gray, 255 where only the own image shows")
      ->group(one);

  const char* many = "A folder of images";
  add_path(*app, "--out", command->folder.output, "DIR",
           "folder for the pictures 000000.png, ... and plan.json")
      ->group(many);
  add_integer(*app, "--count", command->count,
              "pictures to make; number i starts from image i, in the order of names", "")
      ->group(many);
  add_size(*app, "--size", command->folder.size, "common size of the images in pixels",
           "the first image's")
      ->group(many);
  add_path(*app, "--labels", command->folder.labels_file, "FILE",
           "classes for --same-class and --other-class, one whole number per image file, in the "
           "order of names")
      ->group(many);
  app->add_flag("--skip-broken", command->folder.skip_broken,
                "leave out images that cannot be read instead of stopping")
      ->group(many);
  app->add_flag("--masks", command->folder.masks, "add each mask to plan.json, as rows of numbers")
      ->group(many);

  command->policy.add_to(*app, Pairing::dataset);
  add_seed(*app, command->seed);
  command->backend.add_to(*app);

  app->add_flag("--overwrite", command->overwrite,
                "replace FIRST-mixed.png, or files of the same names in the folder --out")
      ->group("Output");
  command->output.add_to(*app, "medley.mix/1");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
