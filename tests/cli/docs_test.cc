// Runs the console examples of docs/cli.md. With MEDLEY_UPDATE_DOCS=1 in the environment it puts
// what the program says into the page instead of comparing.

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program.h"
#ifdef MEDLEY_HAS_TRAINING
#include "train/made_up_results.h"
#endif

namespace medley::cli_test {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class CliPage : public CliTest {
 protected:
  CliPage() {
    write_picture(path("cat.png"), 0, 96, 128);
    write_picture(path("dog.png"), 2, 64, 64);
    std::filesystem::create_directory(folder_ / "photos");
    for (int i = 0; i < 5; ++i) {
      write_picture(path("photos/photo" + std::to_string(i) + ".png"), i, 48, 64);
    }
    write_results();
  }

  /// Whether the program is built with what the command needs; "echo $?" needs the one before it.
  bool can_run([[maybe_unused]] const std::string& command) {
#ifndef MEDLEY_HAS_TRAINING
    if (!command.starts_with("echo")) can_run_ = !command.starts_with("medley results");
#endif
    return can_run_;
  }

  /// Runs "medley ..." or "echo $?" and returns what a terminal would show.
  Lines run(const std::string& command) {
    std::istringstream stream(command);
    Arguments words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.front() == "echo") return {std::to_string(code_)};
    words.erase(words.begin());
    const Outcome outcome = medley(words, {.folder = folder_});
    code_ = outcome.code;
    EXPECT_LT(code_, 128) << command << " crashed";
    return lines_of(outcome.err + outcome.out);
  }

 private:
  void write_results() {
#ifdef MEDLEY_HAS_TRAINING
    std::filesystem::create_directory(folder_ / "results");
    const auto add = [&](const std::string& method, std::uint64_t seed, double top1) {
      train::write_result(path("results/" + method + std::to_string(seed) + ".json"),
                          train::made_up_result("preactresnet18", method, seed, top1));
    };
    add("none", 1, 70);
    add("none", 2, 71);
    add("hmix", 1, 80);
    add("fmix", 1, 75);
    write_file(path("page.md"), "<!-- results: preactresnet18 -->\n<!-- /results -->\n");
#endif
  }

  int code_ = 0;
  bool can_run_ = true;
};

/// `shown` shortened like `written`: what stands before and after its line "...".
Lines shortened(const Lines& shown, const Lines& written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] != "...") continue;
    const std::size_t tail = written.size() - i - 1;
    if (shown.size() < i + tail) return shown;
    Lines lines(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(i));
    lines.emplace_back("...");
    lines.insert(lines.end(), shown.end() - static_cast<std::ptrdiff_t>(tail), shown.end());
    return lines;
  }
  return shown;
}

TEST_F(CliPage, ShowsWhatTheProgramSays) {
  const Lines page = lines_of(read_file(MEDLEY_CLI_PAGE));
  const bool update = std::getenv("MEDLEY_UPDATE_DOCS") != nullptr;
  std::string updated;
  int examples = 0;
  bool console = false;
  for (std::size_t i = 0; i < page.size(); ++i) {
    updated += page[i] + '\n';
    if (page[i] == "```console") console = true;
    if (page[i] == "```") console = false;
    if (!console || !page[i].starts_with("$ ")) continue;
    Lines written;
    while (!page[i + 1].starts_with("$ ") && page[i + 1] != "```") written.push_back(page[++i]);
    const std::string& command = page[i - written.size()];
    const Lines shown =
        can_run(command.substr(2)) ? shortened(run(command.substr(2)), written) : written;
    if (!update) {
      EXPECT_EQ(shown, written) << command;
    }
    for (const std::string& line : shown) updated += line + '\n';
    ++examples;
  }
  EXPECT_GT(examples, 10);
  // A program that crashes has nothing to say about the page.
  if (update && !HasFailure()) write_file(MEDLEY_CLI_PAGE, updated);
}

}  // namespace
}  // namespace medley::cli_test
