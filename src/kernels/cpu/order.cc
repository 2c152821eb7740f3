#include "kernels/cpu/order.h"

#include <algorithm>
#include <utility>

namespace medley {

std::vector<std::int64_t> chained_order(const LoweredPlan& plan) {
  const std::int64_t count = std::ssize(plan.entries);
  using Owner = std::pair<std::int64_t, std::int64_t>;  // image, output
  std::vector<Owner> owners;
  owners.reserve(plan.entries.size());
  for (std::int64_t b = 0; b < count; ++b) {
    owners.emplace_back(plan.entries[static_cast<std::size_t>(b)].own.image, b);
  }
  if (!std::ranges::is_sorted(owners)) std::ranges::sort(owners);
  /// The output whose own image is the partner of output b, or -1.
  const auto next = [&](std::int64_t b) {
    const Owner wanted{plan.entries[static_cast<std::size_t>(b)].partner.image, 0};
    const auto found = std::ranges::lower_bound(owners, wanted);
    return found != owners.end() && found->first == wanted.first ? found->second : -1;
  };
  std::vector<std::int64_t> order;
  order.reserve(plan.entries.size());
  std::vector<char> done(plan.entries.size());
  for (std::int64_t start = 0; start < count; ++start) {
    for (std::int64_t b = start; b >= 0 && done[static_cast<std::size_t>(b)] == 0; b = next(b)) {
      done[static_cast<std::size_t>(b)] = 1;
      order.push_back(b);
    }
  }
  return order;
}

std::vector<InPlaceStep> in_place_order(const LoweredPlan& plan) {
  const auto count = plan.entries.size();
  const auto partner = [&](std::size_t b) {
    return static_cast<std::size_t>(plan.entries[b].partner.image);
  };
  std::vector<std::size_t> readers(count);
  for (std::size_t b = 0; b < count; ++b) {
    if (partner(b) != b) ++readers[partner(b)];
  }
  std::vector<InPlaceStep> steps;
  steps.reserve(count);
  std::vector<char> done(count);
  // Chains first, from the images that nobody else reads.
  for (std::size_t start = 0; start < count; ++start) {
    for (std::size_t b = start; done[b] == 0 && readers[b] == 0; b = partner(b)) {
      done[b] = 1;
      steps.push_back({static_cast<std::int64_t>(b), -1, false});
      if (partner(b) == b) break;
      --readers[partner(b)];
    }
  }
  // What is left are cycles. The last of a cycle reads the image of the first, long overwritten.
  for (std::size_t start = 0; start < count; ++start) {
    if (done[start] != 0) continue;
    const std::size_t first_step = steps.size();
    for (std::size_t b = start; done[b] == 0; b = partner(b)) {
      done[b] = 1;
      steps.push_back({static_cast<std::int64_t>(b), -1, partner(b) == start});
    }
    steps[first_step].save_for = steps.back().entry;
  }
  return steps;
}

}  // namespace medley
