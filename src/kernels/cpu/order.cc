#include "kernels/cpu/order.h"

#include <algorithm>
#include <utility>

namespace medley {

const std::vector<std::int64_t>& ChainedOrder::of(const LoweredPlan& plan) {
  const std::int64_t count = std::ssize(plan.entries);
  owners_.clear();
  for (std::int64_t b = 0; b < count; ++b) {
    owners_.emplace_back(plan.entries[static_cast<std::size_t>(b)].own.image, b);
  }
  if (!std::ranges::is_sorted(owners_)) std::ranges::sort(owners_);
  /// The output whose own image is the partner of output b, or -1.
  const auto next = [&](std::int64_t b) {
    const Owner wanted{plan.entries[static_cast<std::size_t>(b)].partner.image, 0};
    const auto found = std::ranges::lower_bound(owners_, wanted);
    return found != owners_.end() && found->first == wanted.first ? found->second : -1;
  };
  order_.clear();
  done_.assign(plan.entries.size(), 0);
  for (std::int64_t start = 0; start < count; ++start) {
    for (std::int64_t b = start; b >= 0 && done_[static_cast<std::size_t>(b)] == 0; b = next(b)) {
      done_[static_cast<std::size_t>(b)] = 1;
      order_.push_back(b);
    }
  }
  return order_;
}

const std::vector<InPlaceStep>& InPlaceOrder::of(const LoweredPlan& plan) {
  const auto count = plan.entries.size();
  const auto partner = [&](std::size_t b) {
    return static_cast<std::size_t>(plan.entries[b].partner.image);
  };
  readers_.assign(count, 0);
  for (std::size_t b = 0; b < count; ++b) {
    if (partner(b) != b) ++readers_[partner(b)];
  }
  steps_.clear();
  done_.assign(count, 0);
  // Chains first, from the images that nobody else reads.
  for (std::size_t start = 0; start < count; ++start) {
    for (std::size_t b = start; done_[b] == 0 && readers_[b] == 0; b = partner(b)) {
      done_[b] = 1;
      steps_.push_back({static_cast<std::int64_t>(b), -1, false});
      if (partner(b) == b) break;
      --readers_[partner(b)];
    }
  }
  // What is left are cycles. The last of a cycle reads the image of the first, long overwritten.
  for (std::size_t start = 0; start < count; ++start) {
    if (done_[start] != 0) continue;
    const std::size_t first_step = steps_.size();
    for (std::size_t b = start; done_[b] == 0; b = partner(b)) {
      done_[b] = 1;
      steps_.push_back({static_cast<std::int64_t>(b), -1, partner(b) == start});
    }
    steps_[first_step].save_for = steps_.back().entry;
  }
  return steps_;
}

}  // namespace medley
