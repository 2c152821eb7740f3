#include "plan/pairing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "medley/random.h"

namespace medley {
namespace {

using Indices = std::vector<std::int64_t>;

Indices identity(std::int64_t count) {
  Indices indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

void shuffle(RandomStream& random, std::span<std::int64_t> values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below64(i)]);
  }
}

/// Shuffles `values` until no element is where it was; uniform over such orders, about e tries. One
/// element alone stays.
void shuffle_away(RandomStream& random, std::span<std::int64_t> values) {
  if (values.size() < 2) return;
  const Indices original(values.begin(), values.end());
  do shuffle(random, values);
  while (!std::equal(values.begin(), values.end(), original.begin(), std::not_equal_to<>()));
}

void permute(RandomStream& random, bool no_self, std::span<std::int64_t> values) {
  no_self ? shuffle_away(random, values) : shuffle(random, values);
}

Indices permutation(RandomStream& random, const BatchPairing& rules, std::int64_t count) {
  Indices partners = identity(count);
  if (rules.classes == ClassRule::any) {
    permute(random, rules.no_self, partners);
    return partners;
  }
  if (rules.classes == ClassRule::same) {
    // One permutation within each class.
    Indices members = identity(count);
    std::ranges::stable_sort(
        members, {}, [&](std::int64_t i) { return rules.labels[static_cast<std::size_t>(i)]; });
    for (auto begin = members.begin(); begin != members.end();) {
      const std::int64_t label = rules.labels[static_cast<std::size_t>(*begin)];
      const auto end = std::find_if(begin, members.end(), [&](std::int64_t i) {
        return rules.labels[static_cast<std::size_t>(i)] != label;
      });
      Indices group(begin, end);
      permute(random, rules.no_self, group);
      for (auto it = begin; it != end; ++it) {
        partners[static_cast<std::size_t>(*it)] = group[static_cast<std::size_t>(it - begin)];
      }
      begin = end;
    }
    return partners;
  }
  // Any sample of another class; not a permutation, since classes may differ in size.
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t own = rules.labels[static_cast<std::size_t>(i)];
    const auto others = count - std::ranges::count(rules.labels, own);
    if (others == 0) continue;
    auto skip = static_cast<std::int64_t>(random.below64(static_cast<std::uint64_t>(others)));
    for (std::int64_t j = 0; j < count; ++j) {
      if (rules.labels[static_cast<std::size_t>(j)] != own && skip-- == 0) {
        partners[static_cast<std::size_t>(i)] = j;
        break;
      }
    }
  }
  return partners;
}

/// Random pairs: samples in random order, each matched with the next free one that is eligible.
Indices matching(RandomStream& random, const BatchPairing& rules, std::int64_t count) {
  Indices partners = identity(count);
  Indices queue = identity(count);
  shuffle(random, queue);
  const auto eligible = [&](std::int64_t i, std::int64_t j) {
    if (rules.classes == ClassRule::any) return true;
    const bool same =
        rules.labels[static_cast<std::size_t>(i)] == rules.labels[static_cast<std::size_t>(j)];
    return same == (rules.classes == ClassRule::same);
  };
  while (queue.size() > 1) {
    const std::int64_t i = queue.back();
    queue.pop_back();
    const auto match =
        std::find_if(queue.rbegin(), queue.rend(), [&](std::int64_t j) { return eligible(i, j); });
    if (match == queue.rend()) continue;
    partners[static_cast<std::size_t>(i)] = *match;
    partners[static_cast<std::size_t>(*match)] = i;
    queue.erase(std::next(match).base());
  }
  return partners;
}

}  // namespace

std::vector<std::int64_t> draw_batch_partners(const BatchPairing& rules, std::int64_t count,
                                              std::int32_t round, std::uint64_t seed,
                                              std::uint64_t epoch, std::uint64_t batch_ordinal) {
  if (rules.pairing == Pairing::batch) {
    RandomStream random(seed, epoch, batch_ordinal, Purpose::pairing);
    Indices partners;
    for (std::int32_t r = 0; r < round; ++r) {
      partners = rules.mutual && round == 1 ? matching(random, rules, count)
                                            : permutation(random, rules, count);
    }
    return partners;
  }
  Indices partners = identity(count);
  for (std::int64_t i = 0; i < count; ++i) {
    // Later partners of an n-sample method roll on from the first.
    const std::int64_t first = rules.pairing == Pairing::reverse ? count - 1 - i : i + 1;
    std::int64_t j = (first + round - 1) % count;
    if (rules.no_self && j == i) j = (j + 1) % count;
    partners[static_cast<std::size_t>(i)] = j;
  }
  return partners;
}

ClassIndex::ClassIndex(std::span<const std::int64_t> all)
    : labels(all.begin(), all.end()), by_class(identity(std::ssize(all))) {
  std::ranges::stable_sort(by_class, {},
                           [&](std::int64_t i) { return labels[static_cast<std::size_t>(i)]; });
}

DatasetPairing::DatasetPairing(std::int64_t size, bool no_self, ClassRule classes,
                               const ClassIndex* index)
    : size_(size), no_self_(no_self), classes_(classes), index_(index) {
  MEDLEY_DCHECK(classes == ClassRule::any || index != nullptr);
}

std::int64_t DatasetPairing::draw(std::int64_t own, std::int32_t round, std::uint64_t seed,
                                  std::uint64_t epoch, std::uint64_t ordinal) const {
  RandomStream random(seed, epoch, ordinal, Purpose::partner);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below64(static_cast<std::uint64_t>(n)));
  };
  std::int64_t partner = own;
  for (std::int32_t r = 0; r < round; ++r) {
    if (classes_ == ClassRule::any) {
      if (!no_self_) {
        partner = below(size_);
      } else if (size_ > 1) {
        partner = below(size_ - 1);
        if (partner >= own) ++partner;
      }
      continue;
    }
    // The class of `own` is the stretch [begin, end) of by_class.
    const std::vector<std::int64_t>& by_class = index_->by_class;
    const auto class_of = [&](std::int64_t i) {
      return index_->labels[static_cast<std::size_t>(i)];
    };
    const std::int64_t label = class_of(own);
    // Not std::ranges::equal_range, which Clang before 16 cannot compile with libstdc++.
    const std::int64_t begin =
        std::ranges::lower_bound(by_class, label, {}, class_of) - by_class.begin();
    const std::int64_t end =
        std::ranges::upper_bound(by_class, label, {}, class_of) - by_class.begin();
    if (classes_ == ClassRule::other) {
      const std::int64_t others = size_ - (end - begin);
      if (others == 0) continue;
      const std::int64_t k = below(others);
      partner = by_class[static_cast<std::size_t>(k < begin ? k : k + (end - begin))];
      continue;
    }
    const std::int64_t members = end - begin - (no_self_ ? 1 : 0);
    if (members == 0) continue;
    std::int64_t k = begin + below(members);
    // Skip the own sample, whose place in the stretch is known by its index.
    if (no_self_ && by_class[static_cast<std::size_t>(k)] >= own) ++k;
    partner = by_class[static_cast<std::size_t>(k)];
  }
  return partner;
}

}  // namespace medley
