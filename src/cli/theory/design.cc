#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/input_files.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/staged_output.h"
#include "cli/theory/theory.h"
#include "core/json.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/theory/coefficients.h"
#include "medley/theory/design.h"
#include "report/theory_figures.h"

namespace medley::cli {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using theory::DesignTarget;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley theory design --preset smooth --lam 0.5 --height 16 --width 16 -o design.json\n"
    "  medley theory design --preset cutmix --lam 0.5 --height 8 --width 8 --project";

struct DesignCommand {
  OutputOptions output;
  std::string profile_file;
  std::string preset;
  double lam = 0.5;
  ImageSize size = {16, 16};
  bool project = false;
  bool clip = false;
  std::int64_t draws = 4096;
  std::uint64_t seed = 0;
  std::string output_file;
  std::string picture;
};

/// Rows of numbers, one after the other.
std::vector<double> numbers_of(const json& rows, const std::string& name) {
  std::vector<double> values;
  const bool list = rows.is_array() && !rows.empty();
  for (const json& row : list ? rows : json::array()) {
    if (!row.is_array()) throw InvalidArgument(name + ": a profile must be rows of numbers");
    for (const json& value : row) {
      if (!value.is_number()) throw InvalidArgument(name + ": a profile must be rows of numbers");
      values.push_back(value.get<double>());
    }
  }
  if (values.empty()) throw InvalidArgument(name + ": a profile must be rows of numbers");
  return values;
}

/// {"profile": rows by displacement} or {"matrix": rows over all pixels}, or the rows alone.
DesignTarget read_target(const DesignCommand& command) {
  const std::string& name = command.profile_file;
  const json object = parse_json(read_text(name), name, JsonError::argument);
  if (object.is_object() && object.contains("matrix")) {
    return {command.size, 1 - command.lam, numbers_of(object["matrix"], name)};
  }
  const json& rows = object.is_object() && object.contains("profile") ? object["profile"] : object;
  return theory::target_of_profile(numbers_of(rows, name), command.size, 1 - command.lam);
}

DesignTarget wanted_target(const DesignCommand& command) {
  if (command.profile_file.empty() == command.preset.empty()) {
    throw InvalidArgument("a design needs either --profile FILE or --preset NAME");
  }
  if (!command.profile_file.empty()) return read_target(command);
  const auto profile = theory::preset_profile(command.preset, command.lam, command.size);
  return theory::target_of_profile(profile, command.size, 1 - command.lam);
}

ordered_json design_object(const DesignTarget& target) {
  const auto pixels = static_cast<std::int32_t>(target.size.pixels());
  return {{"schema", "medley.design/1"},
          {"height", target.size.height},
          {"width", target.size.width},
          {"mean", target.mean},
          {"matrix", rows_of(target.matrix, {pixels, pixels})}};
}

struct Sampled {
  std::vector<double> map;
  std::vector<double> error;
  double mean = 0;
};

Sampled sample(const DesignCommand& command, const DesignTarget& target, bool clip) {
  MixPolicy policy;
  const std::vector<double> nu(static_cast<std::size_t>(target.size.pixels()), target.mean);
  std::shared_ptr<const GaussianDesign> design =
      std::make_shared<GaussianDesign>(GaussianDesign::dense(target.size, target.matrix, nu));
  policy.method = Method("gaussian-field", {{"design", std::move(design)}});
  const auto m = theory::monte_carlo(policy, target.size,
                                     {.draws = command.draws, .seed = command.seed, .clip = clip});
  Sampled result;
  for (const theory::Estimate& e : m.map) {
    result.map.push_back(e.value);
    result.error.push_back(e.error);
  }
  for (const theory::Estimate& e : m.means) {
    result.mean += e.value / static_cast<double>(m.means.size());
  }
  return result;
}

int run(const DesignCommand& command) {
  DesignTarget target = wanted_target(command);
  const theory::Feasibility before = theory::check_design(target);
  const std::vector<double> wanted = theory::map_of(target);
  ordered_json object = {{"schema", "medley.design-report/1"},
                         {"height", command.size.height},
                         {"width", command.size.width},
                         {"lam", command.lam},
                         {"feasible", before.feasible},
                         {"smallest_eigenvalue", before.smallest},
                         {"largest_eigenvalue", before.largest},
                         {"distance", before.distance},
                         {"projected", !before.feasible && command.project},
                         {"wanted_map", rows_of(wanted, command.size)}};
  std::string text = fmt::format(
      "wanted: {}x{}, mean of the partner's weight {}\n{}: the smallest eigenvalue of A - mean^2 "
      "is "
      "{:.6g} (largest {:.6g})\n",
      command.size.height, command.size.width, 1 - command.lam,
      before.feasible ? "possible" : "not possible", before.smallest, before.largest);
  if (!before.feasible && !command.project) {
    text +=
        fmt::format("the nearest possible matrix is {:.6g} away (Frobenius); --project takes it\n",
                    before.distance);
    print(command.output.json ? to_text(object) : text);
    return kRejected;
  }
  if (!before.feasible) {
    target = theory::nearest_feasible(target);
    text += fmt::format("projected to the nearest possible matrix, {:.6g} away (Frobenius)\n",
                        before.distance);
  }
  const std::vector<double> map = theory::map_of(target);
  const Sampled sampled = sample(command, target, command.clip);
  object["map"] = rows_of(map, command.size);
  object["draws"] = command.draws;
  object["seed"] = command.seed;
  object["clipped"] = command.clip;
  object["sampled_mean"] = sampled.mean;
  object["sampled_map"] = rows_of(sampled.map, command.size);
  object["sampled_error"] = rows_of(sampled.error, command.size);
  text += "coefficients of the design, by displacement:\n" + map_table(map, command.size);
  text += fmt::format("of {} drawn {}masks (seed {}), mean weight {:.6f}:\n", command.draws,
                      command.clip ? "and clipped " : "", command.seed, sampled.mean) +
          map_table(sampled.map, command.size);
  StagedFiles files;
  if (!command.output_file.empty()) {
    files.write(command.output_file, bytes_of(to_text(design_object(target))));
  }
  if (!command.picture.empty()) {
    files.write(command.picture,
                data::encode_png(report::map_figure("design", fmt::format("λ = {}", command.lam),
                                                    map, command.size)));
  }
  files.commit();
  if (!command.output_file.empty()) {
    print_note(fmt::format("design written to {}; use it with --method gaussian-field --design {}",
                           command.output_file, command.output_file),
               command.output.quiet);
  }
  print(command.output.json ? to_text(object) : text);
  return kDone;
}

}  // namespace

Command add_design(CLI::App& theory) {
  CLI::App* app = theory.add_subcommand(
      "design", "Make masks with the coefficients you want, or say why there are none");
  app->footer(kFooter);
  const auto command = std::make_shared<DesignCommand>();
  const char* what = "What you want";
  add_path(*app, "--profile", command->profile_file, "FILE",
           "JSON: rows by displacement (height x width), or {\"matrix\": rows over all pixels}")
      ->group(what);
  app->add_option("--preset", command->preset,
                  "the profile of a method at lam, or smooth, or gmix-plane (the paper's formula)")
      ->type_name("NAME")
      ->group(what);
  add_real(*app, "--lam", command->lam, "mean of the mask")->group(what);
  add_image_size(*app, command->size);
  app->add_flag("--project", command->project,
                "if there are no such masks, take the nearest coefficients that some have")
      ->group(what);
  add_integer(*app, "--monte-carlo", command->draws,
              "masks to draw for the coefficients that they really have")
      ->group("Draws");
  app->add_flag("--clip", command->clip, "clip the drawn masks to [0, 1] first")->group("Draws");
  add_seed(*app, command->seed);
  command->output.add_to(*app, "medley.design-report/1; exit code 3 if not possible");
  add_path(*app, "-o,--output", command->output_file, "FILE",
           "write the design (medley.design/1) for --design")
      ->group("Output");
  add_png(*app, "--png", command->picture, "draw the map")->group("Output");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
