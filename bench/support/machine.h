#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace medley::bench {

/// Model of the processor, "Intel(R) Xeon(R) Processor @ 2.80GHz".
[[nodiscard]] std::string cpu_model();

/// A name made of a-z, 0-9 and dashes, for file names.
[[nodiscard]] std::string slug(const std::string& text);

/// Load averages of the last 1, 5 and 15 minutes.
[[nodiscard]] nlohmann::ordered_json load_average();

/// Processor, caches, memory, kernel, compiler, flags and date.
[[nodiscard]] nlohmann::ordered_json describe_machine();

/// Asks for the real-time scheduler, so that other programs do not take the cores away in the
/// middle of a sample. Threads started later inherit it. False where that is not permitted.
bool run_in_real_time();

}  // namespace medley::bench
