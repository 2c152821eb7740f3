// The plan reader takes any text: a valid plan or InvalidArgument. What it accepts is written and
// read back unchanged, and small plans can be applied.

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "medley/medley.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  medley::MixPlan plan;
  try {
    plan = medley::plan_from_json({reinterpret_cast<const char*>(data), size});
  } catch (const medley::InvalidArgument&) {
    return 0;
  }
  constexpr std::int64_t kSmall = 1 << 14;
  if (plan.size.pixels() * static_cast<std::int64_t>(plan.entries.size() + 1) > kSmall) return 0;
  const std::string text = medley::to_json(plan, true);
  if (medley::to_json(medley::plan_from_json(text), true) != text) std::abort();
  if (plan.entries.empty()) return 0;
  std::vector<float> images(static_cast<std::size_t>(4 * plan.size.pixels()), 0.5f);
  std::vector<float> mixed(plan.entries.size() * static_cast<std::size_t>(plan.size.pixels()));
  try {
    medley::mix(
        plan,
        medley::view_of(std::span<const float>(images), {4, 1, plan.size.height, plan.size.width}),
        medley::mutable_view_of(mixed,
                                {std::ssize(plan.entries), 1, plan.size.height, plan.size.width}),
        {.threads = 1});
  } catch (const medley::InvalidArgument&) {
    return 0;
  }
  return 0;
}
