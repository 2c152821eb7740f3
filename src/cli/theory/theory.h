#pragma once

#include <span>
#include <string>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "medley/types.h"

namespace medley::cli {

// The topics of "medley theory".
[[nodiscard]] Command add_coefficients(CLI::App& theory);
[[nodiscard]] Command add_two_moons(CLI::App& theory);
[[nodiscard]] Command add_design(CLI::App& theory);
[[nodiscard]] Command add_errata(CLI::App& theory);
[[nodiscard]] Command add_figures(CLI::App& theory);

/// --height and --width.
void add_image_size(CLI::App& app, ImageSize& size);

/// Numbers as a list of rows.
[[nodiscard]] nlohmann::ordered_json rows_of(std::span<const double> values, ImageSize size);

/// A map for people: its values at a few displacements, in a table.
[[nodiscard]] std::string map_table(std::span<const double> map, ImageSize size);

}  // namespace medley::cli
