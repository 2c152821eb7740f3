#include "theory/errata/errata.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/theory/theory.h"
#include "medley/error.h"

namespace medley::cli {
namespace {

using theory::Claim;
using theory::Erratum;
using theory::ErratumNumbers;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley theory errata 16\n"
    "  medley theory errata --markdown";

struct ErrataCommand {
  OutputOptions output;
  std::optional<std::int64_t> number;
  bool markdown = false;
};

/// An erratum with its computed numbers.
struct Entry {
  std::size_t number;
  Erratum erratum;
  std::vector<ErratumNumbers> numbers;
};

std::vector<Entry> entries(const ErrataCommand& command) {
  const auto all = theory::errata();
  const std::int64_t count = std::ssize(all);
  if (command.number && (*command.number < 1 || *command.number > count)) {
    throw InvalidArgument(
        fmt::format("the errata are numbered 1 to {}, got {}", count, *command.number));
  }
  std::vector<Entry> list;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (command.number && static_cast<std::size_t>(*command.number) != i + 1) continue;
    list.push_back({i + 1, all[i], {}});
    if (all[i].numbers != nullptr) list.back().numbers = all[i].numbers();
  }
  return list;
}

/// Four digits; what is only rounding is 0.
std::string number_text(double value) {
  return std::abs(value) < 1e-9 ? "0" : fmt::format("{:.4g}", value);
}

std::string to_lines(const Entry& entry) {
  std::string text = fmt::format("{}. {}\n  printed: {}\n  right:   {}\n", entry.number,
                                 entry.erratum.place, entry.erratum.printed, entry.erratum.right);
  if (entry.numbers.empty()) text += "  wording or a table: nothing to compute\n";
  for (const ErratumNumbers& n : entry.numbers) {
    text += fmt::format("  {}:\n    by the printed statement {}, by the right one {}, true {}\n",
                        n.quantity, number_text(n.printed), number_text(n.corrected),
                        number_text(n.truth));
  }
  return text;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string to_row(const Entry& entry) {
  std::string numbers;
  for (const ErratumNumbers& n : entry.numbers) {
    numbers += fmt::format("{}{}: {}, {}, **{}**", numbers.empty() ? "" : "; ", cell(n.quantity),
                           number_text(n.printed), number_text(n.corrected), number_text(n.truth));
  }
  return fmt::format("| {} | {} | {} | {} | {} |\n", entry.number, cell(entry.erratum.place),
                     cell(entry.erratum.printed), cell(entry.erratum.right),
                     numbers.empty() ? "–" : numbers);
}

std::string_view name_of(Claim claim) {
  switch (claim) {
    case Claim::equal:
      return "equal";
    case Claim::at_least:
      return "at-least";
    case Claim::at_most:
      return "at-most";
  }
  return "";
}

nlohmann::ordered_json to_object(const std::vector<Entry>& list) {
  nlohmann::ordered_json object = {{"schema", "medley.errata/1"},
                                   {"errata", nlohmann::ordered_json::array()}};
  for (const Entry& entry : list) {
    nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
    for (const ErratumNumbers& n : entry.numbers) {
      numbers.push_back({{"quantity", n.quantity},
                         {"claim", name_of(n.claim)},
                         {"printed", n.printed},
                         {"right", n.corrected},
                         {"true", n.truth},
                         {"tolerance", n.tolerance}});
    }
    object["errata"].push_back({{"number", entry.number},
                                {"place", entry.erratum.place},
                                {"printed", entry.erratum.printed},
                                {"right", entry.erratum.right},
                                {"only_weaker", entry.erratum.only_weaker},
                                {"numbers", numbers}});
  }
  return object;
}

int run(const ErrataCommand& command) {
  const std::vector<Entry> list = entries(command);
  if (command.output.json) {
    print(to_text(to_object(list)));
    return kDone;
  }
  std::string text;
  if (command.markdown) {
    text =
        "| # | place | printed | right | numbers: printed, right, **true** "
        "|\n|---|---|---|---|---|\n";
  }
  for (const Entry& entry : list) text += command.markdown ? to_row(entry) : to_lines(entry);
  print(text);
  return kDone;
}

}  // namespace

Command add_errata(CLI::App& theory) {
  CLI::App* app = theory.add_subcommand(
      "errata", "Errors of the paper: what is printed, what is right, and what is true");
  app->footer(kFooter);
  const auto command = std::make_shared<ErrataCommand>();
  add_integer(*app, "number", command->number, "one of them, from 1", "all")->group("What to show");
  CLI::Option* markdown =
      app->add_flag("--markdown", command->markdown, "print the table of docs/errata.md")
          ->group("Output");
  command->output.add_to(*app, "medley.errata/1");
  app->get_option("--json")->excludes(markdown);
  add_help(*app);
  return {app, [command] { return run(*command); }};
}

}  // namespace medley::cli
