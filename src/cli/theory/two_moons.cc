#include <charconv>
#include <cmath>
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
#include "medley/error.h"
#include "medley/theory/two_moons.h"
#include "report/theory_figures.h"

namespace medley::cli {
namespace {

using theory::Objective;
using theory::TrainingStep;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley theory two-moons --method mixup --theta 0.5,-0.5,0.1\n"
    "  medley theory two-moons --method bernoulli --train --png curves.png --json";

struct TwoMoonsCommand {
  OutputOptions output;
  std::string method = "mixup";
  theory::PlaneModel model = {};
  bool raw = false;
  bool train = false;
  std::int64_t steps = 100;
  std::string picture;
};

theory::PlaneModel parse_model(const std::string& text) {
  theory::PlaneModel model = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [stop, problem] = std::from_chars(at, end, model[i]);
    const bool last = i == 2;
    if (problem != std::errc() || !std::isfinite(model[i]) ||
        (last ? stop != end : stop == end || *stop != ',')) {
      throw CLI::ValidationError(
          "--theta", fmt::format("expected three finite numbers a,b,c, got '{}'", text));
    }
    at = stop + 1;
  }
  return model;
}

nlohmann::ordered_json object_of(const TrainingStep& step) {
  return {{"step", step.step},
          {"theta", step.model},
          {"exact", step.exact},
          {"approx", step.approximate}};
}

nlohmann::ordered_json objects_of(const std::vector<TrainingStep>& trace) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TrainingStep& step : trace) list.push_back(object_of(step));
  return list;
}

/// Nine decimals, or nine digits of what is large.
std::string loss_text(double loss) {
  return std::abs(loss) < 1e6 ? fmt::format("{:.9f}", loss) : fmt::format("{:.9g}", loss);
}

int evaluate(const TwoMoonsCommand& command, const theory::TwoMoons& task) {
  const double exact = task.exact(command.model);
  const theory::LossTerms terms = task.approximate(command.model);
  if (!std::isfinite(exact) || !std::isfinite(terms.approximate())) {
    throw InvalidArgument(fmt::format(
        "the losses of theta {},{},{} are too large for double precision; take smaller slopes",
        command.model[0], command.model[1], command.model[2]));
  }
  const nlohmann::ordered_json object = {{"schema", "medley.two-moons/1"},
                                         {"method", command.method},
                                         {"data", command.raw ? "raw" : "centered"},
                                         {"theta", command.model},
                                         {"exact", exact},
                                         {"l_m", terms.plain},
                                         {"r1", terms.r1},
                                         {"r2", terms.r2},
                                         {"r3", terms.r3},
                                         {"approx", terms.approximate()},
                                         {"accuracy", task.accuracy(command.model)}};
  const std::string text = fmt::format(
      "{} on two moons, theta ({}, {}, {}):\n"
      "  exact mixed loss  {}\n  approximation     {}\n    plain loss L_m  {}\n"
      "    R1              {}\n    R2              {}\n    R3              {}\n",
      command.method, command.model[0], command.model[1], command.model[2], loss_text(exact),
      loss_text(terms.approximate()), loss_text(terms.plain), loss_text(terms.r1),
      loss_text(terms.r2), loss_text(terms.r3));
  print(command.output.json ? to_text(object) : text);
  return kDone;
}

int train(const TwoMoonsCommand& command, const theory::TwoMoons& task) {
  const auto on_exact = descend(task, Objective::exact, command.steps);
  const auto on_approximate = descend(task, Objective::approximate, command.steps);
  const TrainingStep least = minimize(task, Objective::exact);
  const TrainingStep least_approximate = minimize(task, Objective::approximate);
  if (!command.picture.empty()) {
    write_staged(command.picture, data::encode_png(report::two_moons_figure(
                                      command.method, on_exact, on_approximate)));
    print_note("picture written to " + command.picture, command.output.quiet);
  }
  const nlohmann::ordered_json object = {{"schema", "medley.two-moons-training/1"},
                                         {"method", command.method},
                                         {"data", command.raw ? "raw" : "centered"},
                                         {"rate", 1},
                                         {"on_exact", objects_of(on_exact)},
                                         {"on_approx", objects_of(on_approximate)},
                                         {"minimizer_exact", object_of(least)},
                                         {"minimizer_approx", object_of(least_approximate)}};
  std::string text = fmt::format(
      "{} on two moons, gradient descent with step 1 from 0:\n"
      "  step  trained on exact: exact   approx  |  "
      "trained on approx: exact   approx\n",
      command.method);
  for (std::size_t i = 0; i < on_exact.size(); i = i == 0 ? 1 : 2 * i) {
    text += fmt::format("{:>6} {:>24.6f} {:>8.6f}  | {:>25.6f} {:>8.6f}\n", on_exact[i].step,
                        on_exact[i].exact, on_exact[i].approximate, on_approximate[i].exact,
                        on_approximate[i].approximate);
  }
  text += fmt::format("{:>6} {:>24.6f} {:>8.6f}  | {:>25.6f} {:>8.6f}\n", "least", least.exact,
                      least.approximate, least_approximate.exact, least_approximate.approximate);
  print(command.output.json ? to_text(object) : text);
  return kDone;
}

int run(const CLI::App& app, const TwoMoonsCommand& command) {
  const theory::TwoMoons task(command.method, !command.raw);
  if (command.train) {
    if (app.count("--theta") > 0) {
      print_note("--theta is not used with --train", command.output.quiet);
    }
    return train(command, task);
  }
  for (const char* option : {"--png", "--steps"}) {
    if (app.count(option) == 0) continue;
    print_note(fmt::format("{} needs --train", option), command.output.quiet);
  }
  return evaluate(command, task);
}

}  // namespace

Command add_two_moons(CLI::App& theory) {
  CLI::App* app = theory.add_subcommand(
      "two-moons", "The mixed loss and its expansion, for a linear model on two half moons");
  app->footer(kFooter);
  const auto command = std::make_shared<TwoMoonsCommand>();
  const char* group = "Task";
  app->add_option("--method", command->method, "mixup or bernoulli")
      ->type_name("NAME")
      ->default_str(command->method)
      ->group(group);
  app->add_option_function<std::string>(
         "--theta", [command](const std::string& text) { command->model = parse_model(text); },
         "slopes and bias of the model")
      ->type_name("a,b,c")
      ->default_str("0,0,0")
      ->group(group);
  app->add_flag("--raw", command->raw, "do not subtract the mean of the points")->group(group);
  app->add_flag("--train", command->train, "train on either loss instead, and find the minima")
      ->group(group);
  add_integer(*app, "--steps", command->steps, "steps of gradient descent to train")->group(group);
  command->output.add_to(*app, "medley.two-moons/1, with --train medley.two-moons-training/1");
  add_png(*app, "--png", command->picture, "with --train: draw the curves")->group("Output");
  add_help(*app);
  return {app, [app, command] { return run(*app, *command); }};
}

}  // namespace medley::cli
