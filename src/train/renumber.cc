#include "train/renumber.h"

#include <unordered_map>

namespace medley {

std::vector<std::int64_t> renumber(MixPlan& plan) {
  std::vector<std::int64_t> numbers;
  std::unordered_map<std::int64_t, std::int64_t> slots;
  const auto visit = [&](Source& source) {
    const auto [slot, added] = slots.try_emplace(source.index - plan.base, std::ssize(numbers));
    if (added) numbers.push_back(source.index - plan.base);
    source.index = slot->second;
  };
  for (MixEntry& entry : plan.entries) visit(entry.own);
  for (MixEntry& entry : plan.entries) visit(entry.partner);
  for (MixTerm& term : plan.terms) visit(term.source);
  plan.base = 0;
  return numbers;
}

}  // namespace medley
