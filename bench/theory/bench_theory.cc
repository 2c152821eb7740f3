// Speed of the theory: each fast path against the plain way, in one run, results compared first.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "medley/random.h"
#include "medley/sampler.h"
#include "medley/theory/coefficients.h"
#include "medley/theory/loss.h"
#include "support/program.h"
#include "support/rounds.h"
#include "theory/grad_prod_loops.h"

namespace medley::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Seconds of one run: processor time of all threads, or time on the wall.
enum class Clock { processor, wall };

double now(Clock clock) {
  timespec t{};
  clock_gettime(clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double time_of(Clock clock, int repeat, const std::function<void()>& run) {
  const double begin = now(clock);
  for (int i = 0; i < repeat; ++i) run();
  return (now(clock) - begin) / repeat;
}

Json spread_object(const std::vector<double>& values) {
  const Spread s = spread_of(values);
  return {{"median", s.median}, {"low", s.low}, {"high", s.high}};
}

struct Bench {
  int rounds = 15;
  Json results = Json::array();

  /// Times `plain` and `fast` in turn, round by round.
  void compare(const std::string& name, Clock clock, int repeat, const std::function<void()>& fast,
               const std::function<void()>& plain, double target) {
    std::vector<double> fast_seconds, plain_seconds, ratios;
    fast();
    plain();
    for (int i = 0; i < rounds; ++i) {
      fast_seconds.push_back(time_of(clock, repeat, fast));
      plain_seconds.push_back(time_of(clock, 1, plain));
      ratios.push_back(plain_seconds.back() / fast_seconds.back());
    }
    const Spread ratio = spread_of(ratios);
    fmt::print("{:<44} {:>10.1f} x  (target {}), {:.3g} ms against {:.3g} ms\n", name, ratio.median,
               target, 1e3 * spread_of(fast_seconds).median, 1e3 * spread_of(plain_seconds).median);
    results.push_back({{"name", name},
                       {"clock", clock == Clock::wall ? "wall" : "processor"},
                       {"fast_seconds", spread_object(fast_seconds)},
                       {"plain_seconds", spread_object(plain_seconds)},
                       {"ratio", spread_object(ratios)},
                       {"target", target},
                       {"reached", ratio.median >= target}});
  }

  /// Times one thing; `limit` in seconds.
  void time(const std::string& name, int repeat, const std::function<void()>& run, double limit) {
    std::vector<double> seconds;
    run();
    for (int i = 0; i < rounds; ++i) seconds.push_back(time_of(Clock::processor, repeat, run));
    const double median = spread_of(seconds).median;
    fmt::print("{:<44} {:>10.3f} ms (limit {} ms)\n", name, 1e3 * median, 1e3 * limit);
    results.push_back({{"name", name},
                       {"clock", "processor"},
                       {"seconds", spread_object(seconds)},
                       {"limit", limit},
                       {"reached", median <= limit}});
  }
};

/// The displacement map of cutmix as its definition says: a_jk in closed form, pair by pair.
std::vector<double> pairwise_map(std::int32_t n, std::int32_t side) {
  const auto axis = [=](std::int32_t lo, std::int32_t hi) {
    const std::int32_t count = std::min(lo, n - side) - std::max(hi - side + 1, 0) + 1;
    return static_cast<double>(std::max(count, 0)) / (n - side + 1);
  };
  std::vector<double> map;
  for (std::int32_t dy = 0; dy < n; ++dy) {
    for (std::int32_t dx = 0; dx < n; ++dx) {
      double sum = 0;
      for (std::int32_t y = 0; y + dy < n; ++y) {
        for (std::int32_t x = 0; x + dx < n; ++x) sum += axis(y, y + dy) * axis(x, x + dx);
      }
      map.push_back(sum / (static_cast<double>(n - dy) * (n - dx)));
    }
  }
  return map;
}

double greatest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}

void require(bool same, const char* what) {
  if (!same) throw std::runtime_error(fmt::format("{}: results differ", what));
}

void run_maps(Bench& bench) {
  const MixPolicy cutmix{.method = {"cutmix", {{"lam", 0.5}, {"placement", Placement::inside}}}};
  const auto fast = [&] { return theory::coefficients(cutmix, {64, 64}).map(); };
  require(greatest_difference(fast(), pairwise_map(64, 45)) < 1e-12, "map");
  bench.compare(
      "map/cutmix-inside/64x64 vs pairwise", Clock::processor, 200, [&] { (void)fast(); },
      [] { (void)pairwise_map(64, 45); }, 1000);
  const auto timed = [&](const char* name, MixPolicy policy, ImageSize size, bool effective,
                         int repeat, double limit) {
    bench.time(
        name, repeat,
        [=] {
          (void)(effective ? theory::effective_coefficients(policy, size)
                           : theory::coefficients(policy, size))
              .map();
        },
        limit);
  };
  MixPolicy hmix{.method = {"hmix", {{"lam", 0.5}, {"placement", Placement::inside}}}};
  timed("map/hmix-inside/64x64", hmix, {64, 64}, false, 50, 1e-3);
  timed("map/hmix-inside/224x224", hmix, {224, 224}, false, 10, 5e-3);
  timed("map/hmix-inside/512x512", hmix, {512, 512}, false, 2, 1);
  hmix.method.set("placement", Placement::clipped);
  timed("map/hmix-clipped/64x64", hmix, {64, 64}, false, 50, 1e-3);
  timed("map/hmix-clipped/224x224", hmix, {224, 224}, false, 5, 50e-3);
  timed("map/gmix-paper/64x64", {.method = {"gmix", {{"lam", 0.5}, {"form", Form::paper}}}},
        {64, 64}, false, 50, 1e-3);
  timed("map/gmix-paper/224x224", {.method = {"gmix", {{"lam", 0.5}, {"form", Form::paper}}}},
        {224, 224}, false, 10, 5e-3);
  timed("map/gmix-calibrated/64x64",
        {.method = {"gmix", {{"lam", 0.5}, {"form", Form::calibrated}}}}, {64, 64}, false, 1, 1);
  hmix.method.set("lam", {});
  hmix.method.set("placement", Placement::inside);
  timed("effective/hmix-inside/224x224", hmix, {224, 224}, true, 2, 50e-3);
}

void run_gradients(Bench& bench) {
  RandomStream random(1, 0, 0, Purpose::picture);
  std::vector<double> gradient(64 * 64);
  for (double& value : gradient) value = random.normal();
  std::vector<double> magnitudes = gradient;
  for (double& value : magnitudes) value = std::abs(value);
  const theory::GradProdOptions options{theory::Magnitude::euclidean, theory::Normalize::none};
  const auto fast = [&] { return theory::partial_grad_prod(gradient, 1, {64, 64}, options); };
  const auto plain = [&] { return theory::partial_grad_prod_loops(magnitudes, {64, 64}); };
  require(greatest_difference(fast(), plain()) < 1e-14, "gradient products");
  bench.compare(
      "partial-grad-prod/64x64 vs four loops", Clock::processor, 10, [&] { (void)fast(); },
      [&] { (void)plain(); }, 20);
}

void run_monte_carlo(Bench& bench) {
  constexpr std::int64_t kDraws = 200000;
  for (const char* method : {"cutmix", "hmix", "gmix"}) {
    const MixPolicy policy{.method = method, .pairing = Pairing::dataset};
    const Sampler sampler(policy, {64, 64}, 1);
    // What the estimate takes, as a share of what drawing the same masks takes: 2 is half the rate.
    const auto plan = [&] {
      for (std::int64_t first = 0; first < kDraws; first += 1024) {
        PlanRequest request;
        request.batch = std::min<std::int64_t>(1024, kDraws - first);
        request.first = first;
        request.dataset_size = kDraws;
        (void)sampler.plan(request);
      }
    };
    const auto estimate = [&] {
      (void)theory::monte_carlo(policy, {64, 64}, {.draws = kDraws, .effective = true});
    };
    bench.compare(fmt::format("monte-carlo/{}/64x64 vs planning", method), Clock::wall, 1, estimate,
                  plan, 0.5);
  }
}

Json measure_theory(int rounds, Json& /*context*/) {
  Bench bench;
  bench.rounds = rounds;
  run_maps(bench);
  run_gradients(bench);
  run_monte_carlo(bench);
  return bench.results;
}

}  // namespace
}  // namespace medley::bench

int main(int argc, char** argv) {
  const medley::bench::Program program{"Speed of the theory, in ratios of one run", "theory",
                                       medley::bench::measure_theory};
  return run_program(program, argc, argv);
}
