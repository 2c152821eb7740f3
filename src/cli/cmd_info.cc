#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/method_flags.h"
#include "cli/output_options.h"
#include "cli/training_program.h"
#include "medley/mix.h"
#include "medley/policy.h"
#include "medley/version.h"
#include "options/option_json.h"
#if MEDLEY_HAS_CUDA
#include "medley/cuda.h"
#endif

namespace medley::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kColumn = 18;  // of the table, its second

constexpr const char* kFooter =
    "Examples:\n"
    "  medley info\n"
    "  medley info --json";

ordered_json option_json(const OptionSpec& spec) {
  constexpr const char* kTypes[] = {"flag", "integer", "real",  "name",
                                    "text", "numbers", "masks", "design"};
  ordered_json json = {{"type", kTypes[static_cast<std::size_t>(spec.type)]},
                       {"default", json_of(spec.default_value)},
                       {"help", spec.help}};
  if (!spec.names.empty()) json["names"] = spec.names;
  const OptionRange& range = spec.rules.range;
  if (std::isfinite(range.low)) json[range.above_low ? "above" : "low"] = range.low;
  if (std::isfinite(range.high)) json["high"] = range.high;
  if (!spec.rules.absent.empty()) json["absent"] = spec.rules.absent;
  if (!spec.rules.overridden_by.empty()) json["overridden_by"] = spec.rules.overridden_by;
  return json;
}

ordered_json options_json(const std::vector<OptionSpec>& specs) {
  ordered_json options = ordered_json::object();
  for (const OptionSpec& spec : specs) options[spec.name] = option_json(spec);
  return options;
}

ordered_json method_json(const MethodInfo& method) {
  return {{"name", method.name},           {"summary", method.summary},
          {"source", method.source},       {"options", options_json(method.options)},
          {"uses_lam", method.uses_lam()}, {"unbounded_lam", method.unbounded_lam()},
          {"in_place", method.in_place}};
}

ordered_json cuda_devices() {
  ordered_json list = ordered_json::array();
#if MEDLEY_HAS_CUDA
  for (const cuda::DeviceInfo& device : cuda::devices()) {
    list.push_back({{"index", device.index},
                    {"name", device.name},
                    {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                    {"memory", device.memory}});
  }
#endif
  return list;
}

ordered_json info_json() {
  ordered_json object = {{"schema", "medley.info/2"}, {"version", kVersion}};
  object["methods"] = ordered_json::array();
  for (const MethodInfo* method : methods()) object["methods"].push_back(method_json(*method));
  object["common_options"] = options_json(policy_options());
  object["backends"] = ordered_json::array();
  for (const Backend backend : available_backends()) object["backends"].push_back(name_of(backend));
  object["simd_targets"] = simd_targets();
  object["cuda_devices"] = cuda_devices();
  object["training"] = describe_training_program();
  object["build"] = {{"compiler", MEDLEY_BUILD_COMPILER},
                     {"cuda",
#if MEDLEY_HAS_CUDA
                      true
#else
                      false
#endif
                     },
                     {"type", MEDLEY_BUILD_TYPE},
                     {"sanitizers", MEDLEY_BUILD_SANITIZERS},
                     {"assertions",
#ifdef NDEBUG
                      false
#else
                      true
#endif
                     }};
  return object;
}

std::string words(const ordered_json& list) {
  std::string text;
  for (const ordered_json& item : list)
    text += (text.empty() ? "" : ", ") + item.get<std::string>();
  return text;
}

std::string option_words(const ordered_json& options) {
  std::string text;
  for (const auto& [name, value] : options.items()) {
    if (!text.empty()) text += ", ";
    text += flag_of(name);
    const ordered_json& initial = value["default"];
    if (initial.is_string()) text += ' ' + initial.get<std::string>();
    if (initial.is_number()) text += fmt::format(" {}", initial.get<double>());
    if (initial.is_null() && value.contains("absent")) {
      text += fmt::format(" ({})", value["absent"].get<std::string>());
    }
  }
  return text;
}

/// "" if the build has no CUDA.
std::string device_words(const ordered_json& info) {
  if (!info["build"]["cuda"].get<bool>()) return "";
  std::string text;
  for (const ordered_json& device : info["cuda_devices"]) {
    text += fmt::format("{}{}: {}, compute capability {}, {} GiB", text.empty() ? "" : "; ",
                        device["index"].get<int>(), device["name"].get<std::string>(),
                        device["compute_capability"].get<std::string>(),
                        device["memory"].get<std::uint64_t>() >> 30);
  }
  return text.empty() ? "none found" : text;
}

std::string training_words(const ordered_json& training) {
  if (training.is_null()) return "not built (-DMEDLEY_BUILD_NN=ON, needs LibTorch)";
  if (training.contains("error")) {
    return "does not start: " + training["error"].get<std::string>();
  }
  return "LibTorch " + training["libtorch"].get<std::string>();
}

std::string info_text(const ordered_json& info) {
  std::string text = fmt::format("medley {}\n\nMethods (options with their defaults)\n",
                                 info["version"].get<std::string>());
  const auto line = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format("  {:{}}{}\n", name, kColumn - 2,
                        wrap(value, text_columns() - kColumn, kColumn));
  };
  for (const ordered_json& method : info["methods"]) {
    line(method["name"].get<std::string>(), method["summary"].get<std::string>());
    line("", option_words(method["options"]));
    line("", method["source"].get<std::string>());
  }
  text += "\nEvery method\n";
  line("options", option_words(info["common_options"]));
  text += "\nThis build\n";
  line("backends", words(info["backends"]));
  line("SIMD targets", words(info["simd_targets"]));
  line("CUDA devices", device_words(info));
  line("training", training_words(info["training"]));
  if (info["training"].contains("folder")) line("", info["training"]["folder"].get<std::string>());
  line("compiler", info["build"]["compiler"].get<std::string>());
  line("build type", info["build"]["type"].get<std::string>());
  line("sanitizers", info["build"]["sanitizers"].get<std::string>());
  return text;
}

}  // namespace

Command add_info(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("info", "List methods with their options, backends and build");
  app->footer(kFooter);
  const auto output = std::make_shared<OutputOptions>();
  output->add_to(*app, "medley.info/2");
  add_help(*app);
  return {app, [output] {
            const ordered_json info = info_json();
            print(output->json ? to_text(info) : info_text(info));
            return kDone;
          }};
}

}  // namespace medley::cli
