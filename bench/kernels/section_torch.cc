#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "kernels/byte_floor.h"
#include "kernels/cases.h"
#include "kernels/sections.h"
#include "kernels/torch_mix.h"
#include "medley/error.h"

namespace medley::bench {
namespace {

constexpr double kLam = 0.6;
/// LibTorch rounds in another order, and evaluates exp in single precision; values are below 3.
constexpr float kTolerance = 1e-4f;
/// OpenMP threads spin for a while after each operation; ours would have to wait for them.
constexpr double kRestMs = 25;

/// What must hold: seconds of the LibTorch contender over ours.
struct Target {
  const char* method;
  DType type;
  const char* ours;
  const char* theirs;
  double ratio;
};

// cutmix is compared with the best that LibTorch can do, a new batch with a new batch and in place
// with in place; "twice as fast in place" is about the published line.
constexpr Target kTargets[] = {
    {"mixup", DType::f32, "cpu", "torch", 3},
    {"mixup", DType::f32, "cpu", "torch-index", 3},
    {"mixup", DType::u8, "cpu", "torch", 3},
    {"mixup", DType::u8, "cpu", "torch-index", 3},
    {"hmix", DType::f32, "cpu", "torch", 3},
    {"hmix", DType::u8, "cpu", "torch", 3},
    {"gmix", DType::f32, "cpu", "torch", 3},
    {"gmix", DType::u8, "cpu", "torch", 3},
    {"cutmix", DType::f32, "cpu", "torch-clone", 1},
    {"cutmix", DType::u8, "cpu", "torch-box", 1},
    {"cutmix", DType::f32, "cpu-in-place", "torch", 2},
    {"cutmix", DType::f32, "cpu-in-place", "torch-box", 1},
};

void check_result(const std::string& name, const float* actual, std::span<const float> expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::abs(actual[i] - expected[i]) <= kTolerance)) {
      throw Error(fmt::format("{} differs from our result at value {}: {} and {}", name, i,
                              actual[i], expected[i]));
    }
  }
}

struct Entry {
  std::string backend;
  Contender contender;
};

}  // namespace

void run_versus_torch(const Setup& setup, Report& report) {
  if (torch_description().empty()) {
    fmt::print("\nNo comparison with LibTorch: this program was built without it\n");
    return;
  }
  fmt::print("\nAgainst {}, {} threads, {}; lam {}, one mask per batch, partners reversed\n",
             torch_description(), setup.threads, text_of(setup.shape), kLam);
  fmt::print("  {:<10} {:<6} {:<14} {:>9}   {}\n", "method", "types", "contender", "ms",
             "times the ms of: cpu, cpu-sample, cpu-in-place");
  for (const DType type : {DType::f32, DType::u8}) {
    const MixOptions options = mix_options(type, setup.threads);
    for (const char* method : {"mixup", "cutmix", "hmix", "gmix"}) {
      MixPolicy policy;
      policy.method = method;
      const MixPolicy shared = batch_policy(policy, kLam);
      MixPolicy per_sample = policy;
      per_sample.pairing = Pairing::reverse;
      const MixPlan plan = plan_for(shared, setup.shape.size(), setup.shape.count);
      const MixPlan sample_plan = plan_for(per_sample, setup.shape.size(), setup.shape.count);
      check_against_reference(shared, setup.input(type), DType::f32, options);
      check_against_reference(per_sample, setup.input(type), DType::f32, options);

      const double bytes = byte_floor(plan, setup.shape.channels, type, DType::f32);
      MutableImageBatchView work = setup.output();
      work.data = setup.work.data();
      std::vector<Entry> entries;
      const auto add = [&](const std::string& backend, std::function<void()> run, double floor,
                           double rest) {
        entries.push_back({backend,
                           {name_of("BM_Mix", fmt::format("{}-batch", method), backend, type,
                                    DType::f32, setup.shape),
                            std::move(run), floor, rest}});
      };
      add(
          "cpu", [&] { mix(plan, setup.input(type), setup.output(), options); }, bytes, 0);
      add(
          "cpu-sample", [&] { mix(sample_plan, setup.input(type), setup.output(), options); },
          byte_floor(sample_plan, setup.shape.channels, type, DType::f32), 0);
      if (type == DType::f32)
        add(
            "cpu-in-place", [&] { mix(plan, work, work, options); }, bytes, 0);

      mix(plan, setup.input(type), setup.output(), options);
      const auto reset_work = [&] {
        std::memcpy(setup.work.data(), setup.f32_in.data(),
                    static_cast<std::size_t>(setup.work.size()));
      };
      std::vector<TorchContender> torch = torch_contenders(
          plan, setup.input(type), setup.work.as<float>().data(), options.normalize, setup.threads);
      for (TorchContender& contender : torch) {
        reset_work();
        check_result(contender.name, contender.run(), setup.out.as<const float>());
        add(
            contender.name, [&contender] { (void)contender.run(); }, bytes, kRestMs);
      }
      reset_work();
      if (type == DType::f32) {
        mix(plan, work, work, options);
        check_result("cpu-in-place", setup.work.as<float>().data(), setup.out.as<const float>());
      }
      std::vector<Contender> contenders;
      for (const Entry& entry : entries) contenders.push_back(entry.contender);
      const int rounds = std::max(5, setup.rounds / 2);
      const std::vector<Timing> timings = measure(contenders, setup.copy, rounds);
      const auto timing_of = [&](const std::string& backend) -> const Timing* {
        for (std::size_t i = 0; i < entries.size(); ++i) {
          if (entries[i].backend == backend) return &timings[i];
        }
        return nullptr;
      };
      for (std::size_t i = 0; i < entries.size(); ++i) {
        report.add(timings[i], rounds);
        nlohmann::ordered_json row = {{"method", method},
                                      {"types", fmt::format("{}-f32", name_of(type))},
                                      {"contender", entries[i].backend},
                                      {"ms", rounded(1e3 * spread_of(timings[i].seconds).median)}};
        std::string ratios;
        for (const char* ours : {"cpu", "cpu-sample", "cpu-in-place"}) {
          const Timing* timing = timing_of(ours);
          if (timing == nullptr || !entries[i].backend.starts_with("torch")) continue;
          const double ratio = speedup(*timing, timings[i]).median;
          ratios += fmt::format("{:>8.2f}", ratio);
          row[fmt::format("times_{}", ours)] = rounded(ratio);
        }
        fmt::print("  {:<10} {:<6} {:<14} {:>9.2f} {}\n", method, name_of(type), entries[i].backend,
                   1e3 * spread_of(timings[i].seconds).median, ratios);
        report.add_row("versus_torch", row);
      }
      for (const Target& target : kTargets) {
        const Timing* ours = timing_of(target.ours);
        const Timing* theirs = timing_of(target.theirs);
        if (method != std::string_view(target.method) || type != target.type) continue;
        if (ours == nullptr || theirs == nullptr) continue;
        report.expect_at_least(fmt::format("{} {} {}: times faster than {}", method, name_of(type),
                                           target.ours, target.theirs),
                               speedup(*ours, *theirs).median, target.ratio);
      }
    }
  }
}

}  // namespace medley::bench
