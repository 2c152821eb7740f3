#include <fmt/format.h>

#include "kernels/byte_floor.h"
#include "kernels/cases.h"
#include "kernels/sections.h"

namespace medley::bench {
namespace {

constexpr double kTargetShare = 0.02;

/// With masks of a few numbers each, or such as fill a field of pixels, which have no target.
enum class Masks : std::uint8_t { parametric, fields };

void run_planning(const Setup& setup, Report& report, Masks masks, std::int64_t samples) {
  BatchShape shape = setup.shape;
  shape.count = samples;
  const ImageSize size = shape.size();
  const Buffer in(shape.values() * size_of(DType::f32));
  const Buffer out(shape.values() * size_of(DType::f32));
  fill_pixels(in.as<float>());
  const BatchStrides strides = dense_strides(shape, Layout::nchw);
  const ImageBatchView source{in.data(), DType::f32, Layout::nchw, shape, strides};
  const MutableImageBatchView target{out.data(), DType::f32, Layout::nchw, shape, strides};
  const MixOptions options = mix_options(DType::f32, setup.threads);

  std::vector<MethodCase> cases;
  std::vector<Contender> contenders;
  for (const MethodCase& c : method_cases(size)) {
    if (c.parametric != (masks == Masks::parametric)) continue;
    cases.push_back(c);
    auto sampler = std::make_shared<const Sampler>(c.policy, size, 1);
    PlanRequest request;
    request.batch = samples;
    request.threads = setup.threads;
    auto plan = std::make_shared<const MixPlan>(sampler->plan(request));
    contenders.push_back({name_of("BM_Plan", c.name, "cpu", DType::f32, DType::f32, shape),
                          [sampler, request] { (void)sampler->plan(request); }, 0, 0, 8});
    contenders.push_back({name_of("BM_Mix", c.name, "cpu", DType::f32, DType::f32, shape),
                          [=] { mix(*plan, source, target, options); },
                          byte_floor(*plan, shape.channels, DType::f32, DType::f32)});
  }
  const int rounds = std::max(5, setup.rounds / 5);
  const std::vector<Timing> timings = measure(contenders, setup.copy, rounds);
  fmt::print("\nPlanning {} samples against mixing them, f32, {} threads, {}\n", samples,
             setup.threads, text_of(shape));
  fmt::print("  {:<18} {:>9} {:>9} {:>9}\n", "method", "plan ms", "mix ms", "share");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Timing& planning = timings[2 * i];
    const Timing& mixing = timings[2 * i + 1];
    report.add(planning, rounds);
    report.add(mixing, rounds);
    const double plan_ms = 1e3 * spread_of(planning.seconds).median;
    const double mix_ms = 1e3 * spread_of(mixing.seconds).median;
    const double share = 1 / speedup(planning, mixing).median;
    fmt::print("  {:<18} {:>9.3f} {:>9.1f} {:>8.2f}%\n", cases[i].name, plan_ms, mix_ms,
               100 * share);
    report.add_row("planning", {{"method", cases[i].name},
                                {"plan_ms", rounded(plan_ms)},
                                {"mix_ms", rounded(mix_ms)},
                                {"share", rounded(share)}});
    if (masks == Masks::fields) continue;
    report.expect_at_most(fmt::format("{}: planning as share of mixing", cases[i].name), share,
                          kTargetShare);
  }
}

}  // namespace

void run_planning(const Setup& setup, Report& report) {
  run_planning(setup, report, Masks::parametric, 1024);
  run_planning(setup, report, Masks::fields, 32);
}

}  // namespace medley::bench
