#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/help_format.h"
#include "cli/input_files.h"
#include "cli/nn/accuracy_curves.h"
#include "cli/nn/commands.h"
#include "cli/nn/run_options.h"
#include "cli/nn/train_console.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/staged_output.h"
#include "cli/topics.h"
#include "medley/error.h"
#include "medley/train/result.h"
#include "train/result_document.h"
#include "train/result_export.h"

namespace medley::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Examples:\n"
    "  medley results table results/cifar100\n"
    "  medley results check docs/reproduction.md results/cifar100\n"
    "\n"
    "\"medley results TOPIC --help\" explains a topic.";

/// Everything that the topics take.
struct ResultsCommand {
  OutputOptions output;
  std::vector<std::string> inputs;
  std::string document;
  std::string out;
  train::TableFormat format = train::TableFormat::text;
  bool write = false;
  std::int64_t from = 1;  // epoch
};

std::vector<train::ResultTable> read_tables(const ResultsCommand& command) {
  const std::vector<fs::path> paths(command.inputs.begin(), command.inputs.end());
  const train::ResultFiles files = train::read_results(paths);
  for (const fs::path& run : files.unfinished) {
    print_note(fmt::format("left out, not finished: {}", run.string()), command.output.quiet);
  }
  for (const train::ResultFile& file : files.results) {
    note_lengthened(file.path.string(), file.result.lengthened_from, command.output.quiet);
  }
  return train::tabulate(files.results);
}

int run_table(const ResultsCommand& command) {
  const std::vector<train::ResultTable> tables = read_tables(command);
  print(command.output.json ? to_json(tables) : to_text(tables, command.format));
  return kDone;
}

std::string shown(const std::string& line) {
  return line.empty() ? "(an empty line)" : printable(line);
}

int run_check(const ResultsCommand& command) {
  const std::string& name = command.document;
  const std::string text = read_text(name);
  const std::string rebuilt = train::with_tables(text, name, read_tables(command));
  const auto difference = train::first_difference(text, rebuilt);
  if (!difference) {
    print(fmt::format("{} shows what the results say\n", name));
    return kDone;
  }
  if (command.write) {
    write_staged(name, bytes_of(rebuilt));
    print(fmt::format("{} rewritten from line {}\n", name, difference->line));
    return kDone;
  }
  print(fmt::format("{}:{} differs from the results\n  has:  {}\n  want: {}\n", name,
                    difference->line, shown(difference->a), shown(difference->b)));
  print_note("--write puts in what the results say", command.output.quiet);
  return kRejected;
}

int run_export(const ResultsCommand& command) {
  const std::vector<fs::path> runs(command.inputs.begin(), command.inputs.end());
  for (const fs::path& file : train::export_runs(runs, command.out)) print(file.string() + "\n");
  return kDone;
}

int run_curves(const ResultsCommand& command) {
  if (command.from < 1) throw InvalidArgument("--from: epochs are counted from 1");
  std::vector<AccuracyPanel> panels;
  for (const train::ResultTable& table : read_tables(command)) {
    AccuracyPanel& panel = panels.emplace_back(AccuracyPanel{table.model, {}});
    std::int64_t epochs = 0;
    for (const train::ResultRow& row : table.rows) {
      panel.methods.emplace_back(row.method, row.curve);
      epochs = std::max(epochs, row.curve.back().epoch);
    }
    if (command.from > epochs) {
      throw InvalidArgument(fmt::format("--from {} is beyond the last epoch of {}, {}",
                                        command.from, table.model, epochs));
    }
  }
  const char* caption = "Mean over the seeds, on unmixed test images.";
  write_staged(command.out, data::encode_png(draw_accuracy(panels, caption, command.from)));
  print_note("picture written to " + command.out, command.output.quiet);
  return kDone;
}

/// A topic while its arguments are added.
struct Topic {
  CLI::App* app;
  std::shared_ptr<ResultsCommand> command = std::make_shared<ResultsCommand>();

  Topic(CLI::App& results, const char* name, const char* summary, const char* footer)
      : app(results.add_subcommand(name, summary)) {
    app->footer(footer);
  }
  CLI::Option* inputs(const char* name, const char* help) const {
    return app->add_option(name, command->inputs, help)->required();
  }
  void out(const char* type, const char* help) const {
    add_path(*app, "--out", command->out, type, help)->required()->group("Output");
  }
  void quiet() const {
    app->add_flag("-q,--quiet", command->output.quiet, "no notes")->group("Output");
  }
  Command done(int (*run)(const ResultsCommand&)) const {
    add_help(*app);
    return {app, [c = command, run] { return run(*c); }};
  }
};

constexpr const char* kInputs = "result files, folders of them, or folders of runs";

Command add_table(CLI::App& results) {
  const Topic topic(results, "table", "Methods and seeds of each model, beside the paper's numbers",
                    "Examples:\n"
                    "  medley results table runs/all\n"
                    "  medley results table results/cifar100 --format markdown");
  topic.inputs("FILE|DIR", kInputs);
  add_table_format(*topic.app, topic.command->format);
  topic.command->output.add_to(*topic.app, "medley.results/1");
  return topic.done(run_table);
}

Command add_check(CLI::App& results) {
  const Topic topic(
      results, "check", "Compare the tables in a document with result files",
      "Examples:\n"
      "  medley results check docs/reproduction.md results/cifar100\n"
      "  medley results check docs/reproduction.md results/cifar100 --write\n"
      "\n"
      "A table stands between lines \"<!-- results: MODEL -->\" and \"<!-- /results -->\".");
  topic.app->add_option("DOC", topic.command->document, "Markdown file")->required();
  topic.inputs("DIR", "folder of result files")->expected(1);
  topic.app->add_flag("--write", topic.command->write, "replace the tables")->group("Output");
  topic.quiet();
  return topic.done(run_check);
}

Command add_export(CLI::App& results) {
  const Topic topic(results, "export", "Collect the results of finished runs",
                    "Examples:\n"
                    "  medley results export runs/hmix --out results/cifar100\n"
                    "  medley results export runs/all/*/ --out results/cifar100");
  topic.inputs("RUN", "folders of runs");
  topic.out("DIR", "folder for MODEL-METHOD-seedN.json");
  return topic.done(run_export);
}

Command add_curves(CLI::App& results) {
  const Topic topic(results, "curves", "Draw the test accuracy of every epoch, a chart per model",
                    "Examples:\n"
                    "  medley results curves runs/all --out curves.png\n"
                    "  medley results curves results/cifar100 --from 201 --out last-third.png");
  topic.inputs("FILE|DIR", kInputs);
  add_integer(*topic.app, "--from", topic.command->from, "first epoch to draw")->group("Output");
  add_png(*topic.app, "--out", topic.command->out, "the picture; an existing one is replaced")
      ->required()
      ->group("Output");
  topic.quiet();
  return topic.done(run_curves);
}

}  // namespace

Command add_results(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("results", "Tabulate, check, collect and draw the results of runs");
  app->footer(kFooter);
  return choose_topic(app, {add_table(*app), add_check(*app), add_export(*app), add_curves(*app)});
}

}  // namespace medley::cli
