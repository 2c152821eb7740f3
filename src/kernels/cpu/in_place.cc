#include "kernels/cpu/in_place.h"

namespace medley {

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
      steps.push_back({static_cast<std::int64_t>(b), false, false});
      if (partner(b) == b) break;
      --readers[partner(b)];
    }
  }
  // What is left are cycles.
  for (std::size_t start = 0; start < count; ++start) {
    if (done[start] != 0) continue;
    for (std::size_t b = start; done[b] == 0; b = partner(b)) {
      done[b] = 1;
      steps.push_back({static_cast<std::int64_t>(b), b == start, partner(b) == start});
    }
  }
  return steps;
}

}  // namespace medley
