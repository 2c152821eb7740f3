#include <fmt/format.h>

#include "kernels/byte_floor.h"
#include "kernels/cases.h"
#include "kernels/copy.h"
#include "kernels/sections.h"

namespace medley::bench {
namespace {

constexpr double kTargetShare = 0.85;

}  // namespace

Contender measure_copies(const Setup& setup, Report& report) {
  const std::int64_t bytes = setup.out.size();
  const int threads = setup.threads;
  const std::byte* from = setup.f32_in.data();
  std::byte* to = setup.out.data();
  const auto name = [&](const char* what) {
    return fmt::format("BM_Copy/{}/f32/{}", what, text_of(setup.shape));
  };
  const auto both = 2.0 * static_cast<double>(bytes);
  const auto once = static_cast<double>(bytes);
  const std::vector<Contender> contenders = {
      {name("memcpy"), [=] { copy_with_memcpy(from, to, bytes, threads); }, both},
      {name("streaming"), [=] { copy_with_streaming(from, to, bytes, threads); }, both},
      {name("read-only"), [=] { read_all(from, bytes, threads); }, once},
      {name("write-only"), [=] { fill_with_streaming(to, bytes, threads); }, once},
      {name("memset"), [=] { fill_with_memset(to, bytes, threads); }, once},
  };
  const std::vector<Timing> timings = measure(contenders, contenders[0], setup.rounds);
  fmt::print("\nCopy bandwidth of this machine, {} threads, bytes read plus bytes written\n",
             threads);
  fmt::print("  {:<14} {:>9} {:>9} {:>17}\n", "", "ms", "GB/s", "quartiles");
  for (const Timing& timing : timings) {
    report.add(timing, setup.rounds);
    const Spread time = spread_of(timing.seconds);
    fmt::print("  {:<14} {:>9.2f} {:>9.1f}   {:>6.1f} – {:<6.1f}\n",
               timing.name.substr(8, timing.name.find('/', 8) - 8), 1e3 * time.median,
               timing.rate() / 1e9, timing.bytes / time.high / 1e9, timing.bytes / time.low / 1e9);
    report.add_row("copy",
                   {{"what", timing.name}, {"gb_per_second", rounded(timing.rate() / 1e9)}});
  }
  return timings[0].rate() >= timings[1].rate() ? contenders[0] : contenders[1];
}

void run_methods(const Setup& setup, Report& report) {
  for (const DType type : {DType::f32, DType::u8}) {
    const MixOptions options = mix_options(type, setup.threads);
    std::vector<MethodCase> cases = method_cases(setup.shape.size());
    std::erase_if(
        cases, [&](const MethodCase& c) { return c.name.find(setup.filter) == std::string::npos; });
    std::vector<Contender> contenders;
    for (const MethodCase& c : cases) {
      check_against_reference(c.policy, setup.input(type), DType::f32, options);
      auto plan = std::make_shared<const MixPlan>(
          plan_for(c.policy, setup.shape.size(), setup.shape.count));
      const double bytes = byte_floor(*plan, setup.shape.channels, type, DType::f32);
      contenders.push_back({name_of("BM_Mix", c.name, "cpu", type, DType::f32, setup.shape),
                            [plan, &setup, type, options] {
                              mix(*plan, setup.input(type), setup.output(), options);
                            },
                            bytes});
    }
    const std::vector<Timing> timings = measure(contenders, setup.copy, setup.rounds);
    fmt::print("\nStatic methods, {} to f32{}, per-sample draws, {} threads, {}\n", name_of(type),
               type == DType::u8 ? " normalized" : "", setup.threads, text_of(setup.shape));
    fmt::print("  {:<18} {:>9} {:>9} {:>9} {:>9} {:>15}\n", "method", "ms", "floor MB", "GB/s",
               "of copy", "quartiles");
    for (std::size_t i = 0; i < timings.size(); ++i) {
      const Timing& timing = timings[i];
      report.add(timing, setup.rounds);
      const Spread share = spread_of(timing.share);
      const double ms = 1e3 * spread_of(timing.seconds).median;
      fmt::print("  {:<18} {:>9.2f} {:>9.1f} {:>9.1f} {:>9.2f}   {:>5.2f} – {:<5.2f}\n",
                 cases[i].name, ms, timing.bytes / 1e6, timing.rate() / 1e9, share.median,
                 share.low, share.high);
      report.add_row("methods", {{"method", cases[i].name},
                                 {"types", fmt::format("{}-f32", name_of(type))},
                                 {"ms", rounded(ms)},
                                 {"floor_mb", rounded(timing.bytes / 1e6)},
                                 {"gb_per_second", rounded(timing.rate() / 1e9)},
                                 {"copy_share", rounded(share.median)}});
      report.expect_at_least(fmt::format("{} {}: share of copy", cases[i].name, name_of(type)),
                             share.median, kTargetShare);
    }
  }
}

}  // namespace medley::bench
