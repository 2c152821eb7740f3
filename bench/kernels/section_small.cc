#include <cstring>

#include <fmt/format.h>

#include "kernels/byte_floor.h"
#include "kernels/cases.h"
#include "kernels/copy.h"
#include "kernels/sections.h"

namespace medley::bench {
namespace {

constexpr BatchShape kShape{128, 3, 32, 32};
constexpr int kRepeat = 50;

}  // namespace

void run_small(const Setup& setup, Report& report) {
  const Buffer in(kShape.values());
  const Buffer out(kShape.values() * size_of(DType::f32));
  fill_pixels(in.as<std::uint8_t>());
  const ImageBatchView source =
      view_of(std::span<const std::uint8_t>(in.as<std::uint8_t>()), kShape);
  const MutableImageBatchView target = mutable_view_of(out.as<float>(), kShape);

  struct Case {
    const char* method;
    bool augment;
  };
  fmt::print(
      "\nSmall images in the caches, u8 to f32 normalized, {}; copy: memcpy of the same "
      "bytes\n",
      text_of(kShape));
  fmt::print("  {:<26} {:>8} {:>9} {:>9} {:>9}\n", "", "threads", "us", "ns/row", "of copy");
  for (const int threads : {1, setup.threads}) {
    for (const Case c : {Case{"none", false}, Case{"none", true}, Case{"mixup", true},
                         Case{"cutmix", true}, Case{"hmix", true}, Case{"gmix", true}}) {
      MixPolicy policy;
      policy.method = c.method;
      if (c.augment) policy.augment = {4, 0.5};
      const MixOptions options = mix_options(DType::u8, threads);
      check_against_reference(policy, source, DType::f32, options);
      const MixPlan plan = plan_for(policy, kShape.size(), kShape.count);
      const double bytes = byte_floor(plan, kShape.channels, DType::u8, DType::f32);
      // As many bytes read plus written, from and to the same memory again and again.
      const auto half = static_cast<std::int64_t>(bytes / 2 / 128) * 128;
      const Contender copy{
          "copy", [&] { copy_with_memcpy(setup.f32_in.data(), setup.work.data(), half, threads); },
          bytes, 0, kRepeat};
      const std::string name = fmt::format("{}{}", c.method, c.augment ? "+crop+flip" : "");
      const Contender contender{name_of("BM_MixSmall", name, fmt::format("cpu-{}", threads),
                                        DType::u8, DType::f32, kShape),
                                [&] { mix(plan, source, target, options); }, bytes, 0, kRepeat};
      const Timing timing = measure({&contender, 1}, copy, setup.rounds).front();
      report.add(timing, setup.rounds);
      const double us = 1e6 * spread_of(timing.seconds).median;
      const double rows = static_cast<double>(kShape.count * kShape.channels * kShape.height);
      const double share = spread_of(timing.share).median;
      fmt::print("  {:<26} {:>8} {:>9.1f} {:>9.1f} {:>9.2f}\n", name, threads, us,
                 1e3 * us * threads / rows, share);
      report.add_row("small", {{"case", name},
                               {"threads", threads},
                               {"us", rounded(us)},
                               {"ns_per_row_and_thread", rounded(1e3 * us * threads / rows)},
                               {"share_of_cached_copy", rounded(share)}});
    }
  }
}

}  // namespace medley::bench
