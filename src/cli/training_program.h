#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

namespace medley::cli {

/// The program beside this one that the verbs of training belong to, whether it is there or not.
[[nodiscard]] std::filesystem::path training_program();

/// What it runs on: {"libtorch": version, "folder": of its libraries}; null if there is no such
/// program, and {"error": sentence} if it does not start. Takes as long as LibTorch to load.
[[nodiscard]] nlohmann::ordered_json describe_training_program();

}  // namespace medley::cli
