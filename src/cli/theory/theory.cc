#include "cli/theory/theory.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/options.h"
#include "cli/topics.h"

namespace medley::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  medley theory coefficients --method hmix --lam 0.5 --height 64 --width 64\n"
    "  medley theory figures --out figures\n"
    "\n"
    "\"medley theory TOPIC --help\" explains a topic.";

/// Distances to show: 0, 1 and powers of two, and the last.
std::vector<std::int32_t> shown_distances(std::int32_t n) {
  std::vector<std::int32_t> shown = {0};
  for (std::int32_t d = 1; d < n - 1; d = d < 2 ? 4 : 2 * d) shown.push_back(d);
  if (n > 1) shown.push_back(n - 1);
  return shown;
}

}  // namespace

void add_image_size(CLI::App& app, ImageSize& size) {
  add_integer(app, "--height", size.height, "height of the images in pixels")->group("Images");
  add_integer(app, "--width", size.width, "width of the images in pixels")->group("Images");
}

nlohmann::ordered_json rows_of(std::span<const double> values, ImageSize size) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto width = static_cast<std::size_t>(size.width);
  for (std::size_t y = 0; y < static_cast<std::size_t>(size.height); ++y) {
    const std::span<const double> row = values.subspan(y * width, width);
    rows.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return rows;
}

std::string map_table(std::span<const double> map, ImageSize size) {
  std::string text = "  dy \\ dx";
  const std::vector<std::int32_t> columns = shown_distances(size.width);
  for (const std::int32_t dx : columns) text += fmt::format("{:>11}", dx);
  text += '\n';
  for (const std::int32_t dy : shown_distances(size.height)) {
    text += fmt::format("{:>9}", dy);
    for (const std::int32_t dx : columns) {
      const auto at = static_cast<std::size_t>(std::int64_t{dy} * size.width + dx);
      text += fmt::format("{:>11.6f}", map[at]);
    }
    text += '\n';
  }
  return text;
}

Command add_theory(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("theory", "Say what a mixing method regularizes, in numbers");
  app->footer(kFooter);
  return choose_topic(app, {add_coefficients(*app), add_two_moons(*app), add_design(*app),
                            add_errata(*app), add_figures(*app)});
}

}  // namespace medley::cli
