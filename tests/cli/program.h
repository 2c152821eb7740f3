#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace medley::cli_test {

/// How the program ended and what it said.
struct Outcome {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out;
  std::string err;
  std::int64_t page_faults = 0;  ///< that needed no disk: pages that were mapped anew

  /// Standard output as the one JSON value that it must be.
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Where the streams of the program go.
struct Setting {
  std::string input = {};                   ///< standard input
  std::filesystem::path program = {};       ///< a copy of it; empty: the one that was built
  std::filesystem::path folder = {};        ///< current folder; empty: the test's own
  std::vector<std::string> variables = {};  ///< added to the environment, "NAME=value"
  enum class Output { captured, closed, full_device, broken_pipe } output = Output::captured;
  bool error_is_terminal = false;             ///< standard error is a pseudo terminal
  unsigned short columns = 0;                 ///< of that terminal, 0: it does not say
  std::function<void()> before = {};          ///< in the new process, before the program starts
  std::function<void(pid_t)> meanwhile = {};  ///< called once while the program runs
};

using Arguments = std::vector<std::string>;

/// Runs the real program with exactly these arguments (no shell), to its end. Reports a test
/// failure if a sanitizer complained.
[[nodiscard]] Outcome medley(const Arguments& arguments, const Setting& setting = {});

[[nodiscard]] Arguments operator+(Arguments a, const Arguments& b);

/// A test with a folder of its own, removed afterwards.
class CliTest : public testing::Test {
 protected:
  CliTest();
  ~CliTest() override;
  CliTest(const CliTest&) = delete;
  CliTest& operator=(const CliTest&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  /// Names of everything in the folder, hidden files too, sorted.
  [[nodiscard]] std::vector<std::string> names(const std::string& subfolder = ".") const;

  std::filesystem::path folder_;
};

[[nodiscard]] std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// Writes a synthetic picture as a PNG or JPEG file.
void write_picture(const std::filesystem::path& path, int number, int height, int width);
void write_jpeg(const std::filesystem::path& path, int number, int height, int width);
/// The same with Exif data that say how it is turned, 1 to 8.
void write_turned_jpeg(const std::filesystem::path& path, int number, int height, int width,
                       int orientation);

/// Mean of a list of rows.
[[nodiscard]] double mean_of(const nlohmann::json& rows);

}  // namespace medley::cli_test
