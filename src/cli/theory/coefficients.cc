#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/policy_options.h"
#include "cli/staged_output.h"
#include "cli/theory/theory.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/theory/coefficients.h"
#include "moments/with_these_options.h"
#include "options/option_json.h"
#include "report/theory_figures.h"

namespace medley::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  medley theory coefficients --method hmix --ratio 0.5 --lam 0.5 --json\n"
    "  medley theory coefficients --method cutmix --effective --alpha 1 --point 0,0,63,63";

using theory::Pixel;

struct CoefficientsCommand {
  PolicyOptions policy;
  OutputOptions output;
  ImageSize size = {64, 64};
  bool effective = false;
  std::optional<std::pair<Pixel, Pixel>> point;
  std::optional<std::int64_t> draws;
  std::uint64_t seed = 0;
  std::int32_t threads = 0;
  std::string picture;
};

// Of a pixel of the map and what it is computed with, at least, measured with mixup and cutmix.
constexpr double kBytesOfPixel = 23;
constexpr double kBytesOfPixelAsJson = 43;

/// What either way of computing gives.
struct Answer {
  std::vector<double> map;
  std::vector<double> map_error;  // Monte Carlo only
  std::vector<double> means;
  std::optional<theory::Estimate> a;
};

std::pair<Pixel, Pixel> parse_point(const std::string& text) {
  std::int32_t values[4] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [stop, problem] = std::from_chars(at, end, values[i]);
    const bool last = i == 3;
    if (problem != std::errc() || (last ? stop != end : stop == end || *stop != ',')) {
      throw CLI::ValidationError(
          "--point", fmt::format("expected four whole numbers j1,j2,k1,k2, got '{}'", text));
    }
    at = stop + 1;
  }
  return {{values[0], values[1]}, {values[2], values[3]}};
}

Answer closed_form(const CoefficientsCommand& command, const MixPolicy& policy) {
  if (!theory::has_closed_form(policy, command.effective)) {
    throw InvalidArgument(
        fmt::format("the {}moments of {} masks{} have no closed form; estimate them with "
                    "--monte-carlo N",
                    command.effective ? "effective " : "", policy.method.name(),
                    theory::with_these_options(policy.method, [&](const MethodBase& method) {
                      return method.has_moments(command.effective);
                    })));
  }
  const theory::MaskMoments m = command.effective
                                    ? theory::effective_coefficients(policy, command.size)
                                    : theory::coefficients(policy, command.size);
  Answer answer{m.map(), {}, m.means(), {}};
  if (command.point) {
    answer.a = theory::Estimate{m.second(command.point->first, command.point->second), 0};
  }
  return answer;
}

Answer estimated(const CoefficientsCommand& command, const MixPolicy& policy) {
  theory::MonteCarloOptions options;
  options.draws = *command.draws;
  options.seed = command.seed;
  options.effective = command.effective;
  options.threads = command.threads;
  if (command.point) options.points.push_back(*command.point);
  const theory::MonteCarloMoments m = theory::monte_carlo(policy, command.size, options);
  Answer answer;
  for (const theory::Estimate& e : m.map) {
    answer.map.push_back(e.value);
    answer.map_error.push_back(e.error);
  }
  for (const theory::Estimate& e : m.means) answer.means.push_back(e.value);
  if (command.point) answer.a = m.points.front();
  return answer;
}

double average(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The value of lam in `fixed`, or `drawn`.
std::string lam_text(const char* fixed, const char* drawn, const MixPolicy& policy) {
  const OptionValue lam = policy.method.uses("lam") ? policy.method.get("lam") : OptionValue();
  return lam.empty() ? drawn : fmt::format(fmt::runtime(fixed), lam.as<double>());
}

nlohmann::ordered_json to_object(const CoefficientsCommand& command, const MixPolicy& policy,
                                 const Answer& answer) {
  nlohmann::ordered_json object = {{"schema", "medley.coefficients/1"},
                                   {"method", policy.method.name()},
                                   {"height", command.size.height},
                                   {"width", command.size.width},
                                   {"effective", command.effective},
                                   {"source", command.draws ? "monte-carlo" : "closed-form"}};
  object.update(effective_options(policy.method.info().options, policy.method.base().fields()));
  object["prob"] = policy.prob;
  if (command.effective) object["label"] = name_of(policy.label);
  if (command.draws) {
    object["draws"] = *command.draws;
    object["seed"] = command.seed;
  }
  const auto [low, high] = std::minmax_element(answer.means.begin(), answer.means.end());
  object["mean"] = average(answer.means);
  object["mean_low"] = *low;
  object["mean_high"] = *high;
  if (command.point) {
    const auto& [j, k] = *command.point;
    object["point"] = {j.row, j.column, k.row, k.column};
    object["a"] = answer.a->value;
    if (command.draws) object["a_error"] = answer.a->error;
  }
  object["map"] = rows_of(answer.map, command.size);
  if (command.draws) object["map_error"] = rows_of(answer.map_error, command.size);
  return object;
}

void check_memory(const CoefficientsCommand& command) {
  const double pixel = command.output.json ? kBytesOfPixelAsJson : kBytesOfPixel;
  require_memory(
      pixel * static_cast<double>(command.size.pixels()),
      fmt::format("the coefficients of {}x{} pixels", command.size.height, command.size.width));
}

std::string to_table(const CoefficientsCommand& command, const MixPolicy& policy,
                     const Answer& answer) {
  const std::string lam = lam_text("lam {}", "lam integrated", policy);
  const auto [low, high] = std::minmax_element(answer.means.begin(), answer.means.end());
  std::string text = fmt::format(
      "{}: {} of {}x{} (height x width), {}{}\n", policy.method.name(),
      command.effective ? "effective coefficients" : "coefficients E[(1-M_j)(1-M_k)]",
      command.size.height, command.size.width, lam,
      command.draws ? fmt::format(", {} draws, seed {}", *command.draws, command.seed) : "");
  text += fmt::format("mean of a pixel {:.6f}, from {:.6f} to {:.6f}\n", average(answer.means),
                      *low, *high);
  if (command.point) {
    const auto& [j, k] = *command.point;
    text += fmt::format("a for pixels ({}, {}) and ({}, {}): {:.12g}", j.row, j.column, k.row,
                        k.column, answer.a->value);
    if (command.draws) text += fmt::format(" +- {:.2g}", answer.a->error);
    text += '\n';
  }
  text += "average over the pixels, by displacement:\n" + map_table(answer.map, command.size);
  if (command.draws) {
    text += fmt::format("standard errors up to {:.2g}\n",
                        *std::max_element(answer.map_error.begin(), answer.map_error.end()));
  }
  return text;
}

int run(const CoefficientsCommand& command) {
  const MixPolicy policy = command.policy.policy();
  check_memory(command);
  const Answer answer = command.draws ? estimated(command, policy) : closed_form(command, policy);
  command.policy.note_unused(command.output.quiet);
  if (!command.picture.empty()) {
    const std::string note =
        fmt::format("{}, {}", command.effective ? "effective" : "E[(1-M)(1-M)]",
                    lam_text("λ = {}", "λ integrated", policy));
    write_staged(command.picture,
                 data::encode_png(report::map_figure(std::string(policy.method.name()), note,
                                                     answer.map, command.size)));
    print_note("picture written to " + command.picture, command.output.quiet);
  }
  print(command.output.json ? to_text(to_object(command, policy, answer))
                            : to_table(command, policy, answer));
  return kDone;
}

}  // namespace

Command add_coefficients(CLI::App& theory) {
  CLI::App* app = theory.add_subcommand(
      "coefficients", "How strongly a method ties pairs of pixels, by displacement");
  app->footer(kFooter);
  const auto command = std::make_shared<CoefficientsCommand>();
  add_image_size(*app, command->size);
  const char* what = "What to compute";
  app->add_flag("--effective", command->effective,
                "integrate over lam and labels: the coefficients that the loss really has")
      ->group(what);
  app->add_option_function<std::string>(
         "--point", [command](const std::string& text) { command->point = parse_point(text); },
         "also for one pair of pixels, rows and columns from 0")
      ->type_name("j1,j2,k1,k2")
      ->group(what);
  add_integer(*app, "--monte-carlo", command->draws,
              "estimate from this many drawn masks, with standard errors; every method", "exact")
      ->group(what);
  command->policy.add_masks_to(*app);
  add_seed(*app, command->seed);
  add_integer(*app, "--threads", command->threads, "threads to use, 0 for all cores")
      ->group("Draws");
  command->output.add_to(*app, "medley.coefficients/1");
  add_png(*app, "--png", command->picture, "draw the map")->group("Output");
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
