#include <cstring>

#include <fmt/format.h>

#include "kernels/cases.h"
#include "kernels/sections.h"
#include "support/allocations.h"

namespace medley::bench {
namespace {

constexpr double kTargetMiB = 1;

}  // namespace

void run_memory(const Setup& setup, Report& report) {
  fmt::print("\nMemory of a call beyond input, output and plan, {} threads, {}\n", setup.threads,
             text_of(setup.shape));
  fmt::print("  {:<18} {:>9} {:>9} {:>9}\n", "KiB", "f32-f32", "u8-f32", "in place");
  // Threads keep their working memory from call to call: it counts for every call.
  std::int64_t kept = 0;
  const auto peak_of = [&](const MixPlan& plan, const ImageBatchView& in,
                           const MutableImageBatchView& out) {
    const MixOptions options = mix_options(in.dtype, setup.threads);
    const std::int64_t before = allocated_bytes();
    reset_allocation_peak();
    mix(plan, in, out, options);
    const std::int64_t peak = kept + allocation_peak() - before;
    kept += allocated_bytes() - before;
    return static_cast<double>(peak) / 1024;
  };
  for (const MethodCase& c : method_cases(setup.shape.size())) {
    const MixPlan plan = plan_for(c.policy, setup.shape.size(), setup.shape.count);
    const double f32 = peak_of(plan, setup.input(DType::f32), setup.output());
    const double u8 = peak_of(plan, setup.input(DType::u8), setup.output());
    double in_place = 0;
    if (c.policy.method.info().in_place) {
      MutableImageBatchView view = setup.output();
      view.data = setup.work.data();
      in_place = peak_of(plan, view, view);
    }
    fmt::print("  {:<18} {:>9.0f} {:>9.0f} {:>9}\n", c.name, f32, u8,
               in_place > 0 ? fmt::format("{:.0f}", in_place) : "-");
    nlohmann::ordered_json row = {
        {"method", c.name}, {"f32_f32_kib", rounded(f32)}, {"u8_f32_kib", rounded(u8)}};
    if (in_place > 0) row["in_place_kib"] = rounded(in_place);
    report.add_row("memory", row);
    if (c.parametric) {
      report.expect_at_most(fmt::format("{}: MiB beyond input and output", c.name),
                            std::max({f32, u8, in_place}) / 1024, kTargetMiB);
    }
  }
}

}  // namespace medley::bench
