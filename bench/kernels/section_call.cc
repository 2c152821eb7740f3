#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "kernels/cases.h"
#include "kernels/plain_batch.h"
#include "kernels/revision.h"
#include "kernels/sections.h"
#include "support/allocations.h"

namespace medley::bench {
namespace {

constexpr BatchShape kImages{2, 3, 32, 32};
constexpr BatchShape kImage{1, 3, 32, 32};
constexpr double kTargetUs = 3;

}  // namespace

void run_call(const Setup& setup, Report& report) {
  const Buffer in(kImages.values() * size_of(DType::f32));
  const Buffer out(kImage.values() * size_of(DType::f32));
  fill_pixels(in.as<float>());
  const ImageBatchView from = view_of(std::span<const float>(in.as<float>()), kImages);
  const MutableImageBatchView to = mutable_view_of(out.as<float>(), kImage);
  const MixOptions options = mix_options(DType::f32, 1);
  const MixOptions all_cores = mix_options(DType::f32, 0);
  std::unique_ptr<Revision> before;
  if (!setup.before.empty()) before = std::make_unique<Revision>(setup.before);
  fmt::print("\nOne call that mixes one image of {} with another, f32, best\n", text_of(kImage));
  fmt::print("  {:<10} {:>10} {:>14} {:>14} {:>10} {:>12}\n", "method", "us", "us, 0 threads",
             "allocations", "plain us", before ? "before us" : "");
  for (const char* method : {"mixup", "cutmix", "hmix", "gmix"}) {
    MixPolicy policy;
    policy.method = method;
    check_against_reference(policy, from, DType::f32, options);
    MixPlan plan = plan_for(policy, kImages.size(), kImages.count);
    plan.entries.resize(1);
    const PlainPlan plain(plan, options.normalize);
    const PlainBatch batch = plain.batch(from, to);
    std::vector<Contender> contenders = {
        {"medley", [&] { mix(plan, from, to, options); }},
        {"medley, all cores", [&] { mix(plan, from, to, all_cores); }},
        {"plain", [&] { mix_plainly(plain_builds().back().loop, batch, 1); }}};
    MedleyRevisionJob job = revision_job(from, to, options);
    void* before_plan = before ? before->plan(plan) : nullptr;
    MedleyRevisionJob all_cores_job = revision_job(from, to, all_cores);
    if (before) {
      contenders.push_back({"before", [&] { before->mix(before_plan, job); }});
      contenders.push_back({"before, all cores", [&] { before->mix(before_plan, all_cores_job); }});
    }
    const std::vector<double> best = best_of(contenders, setup.rounds);
    if (before) before->free_plan(before_plan);
    const std::int64_t allocations = allocation_count();
    mix(plan, from, to, options);
    const std::int64_t made = allocation_count() - allocations;
    fmt::print("  {:<10} {:>10.2f} {:>14.2f} {:>14} {:>10.2f} {:>12}\n", method, 1e6 * best[0],
               1e6 * best[1], made, 1e6 * best[2],
               before ? fmt::format("{:.2f}, {:.2f}", 1e6 * best[3], 1e6 * best[4]) : "");
    nlohmann::ordered_json row = {{"method", method},
                                  {"us", rounded(1e6 * best[0])},
                                  {"all_cores_us", rounded(1e6 * best[1])},
                                  {"allocations", made},
                                  {"plain_us", rounded(1e6 * best[2])}};
    if (before) {
      row["before_us"] = rounded(1e6 * best[3]);
      row["before_all_cores_us"] = rounded(1e6 * best[4]);
    }
    report.add_row("call", row);
    report.expect_at_most(fmt::format("{}: us of a call on one 3x32x32 image", method),
                          1e6 * std::max(best[0], best[1]), kTargetUs);
    report.expect_at_most(fmt::format("{}: allocations of that call", method),
                          static_cast<double>(made), 0);
  }
}

}  // namespace medley::bench
