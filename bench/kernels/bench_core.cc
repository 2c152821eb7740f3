// Mixing speed: against plain loops and memcpy, every static method against the copy bandwidth of
// this machine, against LibTorch, planning against mixing, memory. Prints tables and writes a JSON
// file.

#include <exception>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/sections.h"
#include "kernels/torch_mix.h"
#include "support/machine.h"
#include "support/program.h"

namespace medley::bench {
namespace {

constexpr BatchShape kShape{128, 3, 224, 224};

struct Flags {
  std::string out;
  std::string commit = "unknown";
  std::vector<std::string> sections = {"call",  "memory",   "plain", "methods",
                                       "torch", "planning", "small"};
  std::string before;
  std::string before_name = "before";
  std::string filter;
  int rounds = 31;
  int plain_rounds = 11;
  int threads = 2;
  bool stock_allocator = false;
  bool normal_priority = false;
  bool check = false;
};

int run(const Flags& flags) {
  const bool real_time = !flags.normal_priority && run_in_real_time();
  nlohmann::ordered_json context = describe_machine();
  context["commit"] = flags.commit;
  context["scheduling"] = real_time ? "real-time" : "normal";
  context["threads"] = flags.threads;
  context["rounds"] = flags.rounds;
  context["plain_rounds"] = flags.plain_rounds;
  if (!flags.before.empty()) context["before"] = flags.before_name;
  context["torch"] = torch_description();
  context["torch_memory"] = flags.stock_allocator ? "stock" : "cached, huge pages";
  context["load_average_before"] = load_average();
  if (!flags.stock_allocator) use_cached_torch_memory();
  fmt::print("{}, {} cores, {} scheduling, {} {}, commit {}\nload average {}\n", cpu_model(),
             context["cores"].get<int>(), real_time ? "real-time" : "normal",
             context["compiler"].get<std::string>(), context["flags"].get<std::string>(),
             flags.commit, context["load_average_before"].dump());

  const std::int64_t values = kShape.values();
  const Buffer f32_in(values * 4);
  const Buffer u8_in(values);
  const Buffer out(values * 4);
  const Buffer work(values * 4);
  fill_pixels(f32_in.as<float>());
  fill_pixels(u8_in.as<std::uint8_t>());
  fill_pixels(work.as<float>());

  Report report;
  Setup setup{kShape, flags.threads, flags.rounds, flags.filter, f32_in,
              u8_in,  out,           work,         {},           flags.before};
  const auto wanted = [&](const char* section) {
    return std::ranges::find(flags.sections, section) != flags.sections.end();
  };
  if (wanted("call")) run_call(setup, report);
  if (wanted("memory")) run_memory(setup, report);
  if (wanted("plain")) {
    setup.rounds = flags.plain_rounds;
    run_versus_plain(setup, report);
    setup.rounds = flags.rounds;
  }
  const bool only_plain = std::ranges::all_of(
      flags.sections, [](const std::string& s) { return s == "call" || s == "plain"; });
  if (!only_plain) setup.copy = measure_copies(setup, report);
  if (wanted("methods")) run_methods(setup, report);
  if (wanted("torch")) run_versus_torch(setup, report);
  if (wanted("planning")) run_planning(setup, report);
  if (wanted("small")) run_small(setup, report);

  context["load_average_after"] = load_average();
  fmt::print("\nTargets\n{}load average {}\n", report.target_table(),
             context["load_average_after"].dump());
  if (!flags.out.empty()) {
    const std::string stem = only_plain ? "plain" : "core";
    nlohmann::ordered_json file = {{"schema", fmt::format("medley.bench_{}/1", stem)},
                                   {"context", context}};
    file.update(report.json());
    write_results(flags.out, stem, file);
  }
  return flags.check && !report.all_met() ? 3 : 0;
}

}  // namespace
}  // namespace medley::bench

int main(int argc, char** argv) {
  medley::bench::Flags flags;
  CLI::App app("Measures mixing speed on this machine.");
  app.add_option("--out", flags.out,
                 "JSON file to write, or a folder for core-CPU.json (plain-CPU.json)")
      ->take_last();
  app.add_option("--commit", flags.commit, "revision of the sources, kept in the file");
  app.add_option("--sections", flags.sections,
                 "parts to run: call memory plain methods torch planning small")
      ->check(CLI::IsMember({"call", "memory", "plain", "methods", "torch", "planning", "small"}));
  app.add_option("--filter", flags.filter, "of the methods, only those whose name contains this");
  app.add_option("--before", flags.before, "shared object of another revision, from bench/revision")
      ->check(CLI::ExistingFile);
  app.add_option("--before-name", flags.before_name, "that revision, kept in the file");
  app.add_option("--plain-rounds", flags.plain_rounds, "rounds beside the plain loops")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--rounds", flags.rounds, "samples per contender")
      ->check(CLI::Range(3, 10000))
      ->capture_default_str();
  app.add_option("--threads", flags.threads, "threads of every contender")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag("--stock-allocator", flags.stock_allocator,
               "leave LibTorch's memory to its own allocator");
  app.add_flag("--normal-priority", flags.normal_priority, "never ask for the real-time scheduler");
  app.add_flag("--check", flags.check, "exit with 3 if a target is missed");
  CLI11_PARSE(app, argc, argv);
  try {
    return medley::bench::run(flags);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_core: {}\n", error.what());
    return 1;
  }
}
