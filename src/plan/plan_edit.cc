#include "medley/plan_edit.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/check.h"

namespace medley {
namespace {

void require_entries(const MixPlan& plan, std::int64_t begin, std::int64_t count) {
  const std::int64_t entries = std::ssize(plan.entries);
  if (begin < 0 || count < 0 || begin > entries || count > entries - begin) {
    fail_argument(fmt::format("entries of the plan must be in [0, {}), got {} from {} on", entries,
                              count, begin));
  }
}

void require_fit(const MixPlan& a, const MixPlan& b) {
  if (a.size == b.size && a.base == b.base) return;
  fail_argument(
      fmt::format("plans to join must have one size and base, got {}x{} from {} and {}x{} "
                  "from {}",
                  a.size.height, a.size.width, a.base, b.size.height, b.size.width, b.base));
}

template <typename T>
void require_part(const std::vector<T>& of, std::int64_t begin, std::int64_t count) {
  if (begin >= 0 && count >= 0 && begin <= std::ssize(of) && count <= std::ssize(of) - begin)
    return;
  fail_argument(fmt::format(
      "an entry needs {} terms, mask values or tile maps from {} on, but the plan has {}", count,
      begin, of.size()));
}

/// Copies entries of one plan to another with their terms, fields, grids and tile maps; what
/// several of them share is copied once.
class Mover {
 public:
  Mover(const MixPlan& from, MixPlan& to) : from_(from), to_(to) {}

  [[nodiscard]] MixEntry move(MixEntry entry) {
    move_mask(entry.mask);
    move_tiles(entry.own);
    move_tiles(entry.partner);
    if (entry.term_count > 0) {
      const std::int64_t begin = std::ssize(to_.terms);
      add(from_.terms, entry.term_begin, entry.term_count, to_.terms);
      entry.term_begin = begin;
      for (std::int64_t k = begin; k < begin + entry.term_count; ++k) {
        MixTerm term = to_.terms[static_cast<std::size_t>(k)];
        move_mask(term.mask);
        move_tiles(term.source);
        to_.terms[static_cast<std::size_t>(k)] = term;
      }
    }
    return entry;
  }

 private:
  template <typename AnyMask>
  void move_mask(AnyMask& mask) {
    if (auto* field = std::get_if<FieldMask>(&mask)) {
      field->offset = moved_values(field->offset, from_.size.pixels());
    } else if (auto* grid = std::get_if<GridMask>(&mask)) {
      grid->offset = moved_values(grid->offset, std::int64_t{grid->rows} * grid->columns);
    }
  }

  [[nodiscard]] std::int64_t moved_values(std::int64_t offset, std::int64_t count) {
    const auto [at, added] = values_.try_emplace({offset, count}, std::ssize(to_.fields));
    if (added) add(from_.fields, offset, count, to_.fields);
    return at->second;
  }

  void move_tiles(Source& source) {
    if (source.tiles < 0) return;
    const auto [at, added] =
        tiles_.try_emplace(source.tiles, static_cast<std::int32_t>(to_.tile_maps.size()));
    if (added) add(from_.tile_maps, source.tiles, 1, to_.tile_maps);
    source.tiles = at->second;
  }

  /// `from` and `to` may be one vector.
  template <typename T>
  static void add(const std::vector<T>& from, std::int64_t begin, std::int64_t count,
                  std::vector<T>& to) {
    require_part(from, begin, count);
    const std::ptrdiff_t end = std::ssize(to);
    to.resize(to.size() + static_cast<std::size_t>(count));
    std::copy_n(from.begin() + begin, count, to.begin() + end);
  }

  const MixPlan& from_;
  MixPlan& to_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> values_;  // by offset and number
  std::unordered_map<std::int32_t, std::int32_t> tiles_;
};

/// Whether the weight is `value`, 0 or 1, everywhere.
struct IsEverywhere {
  const MixPlan& plan;
  double value;

  bool operator()(const FlatMask& m) const { return m.value == value; }
  bool operator()(const BoxMask& m) const {
    const bool empty = m.height == 0 || m.width == 0;
    const bool full = m.height == plan.size.height && m.width == plan.size.width;
    return (empty || m.inside == value) && (full || m.outside == value);
  }
  bool operator()(const GaussianMask& /*m*/) const { return false; }
  bool operator()(const FieldMask& m) const { return all(m.offset, plan.size.pixels()); }
  /// Between ones lie ones, and between zeros zeros.
  bool operator()(const GridMask& m) const {
    return all(m.offset, std::int64_t{m.rows} * m.columns);
  }
  bool operator()(const OpenMask& /*m*/) const { return false; }
  /// Of a term: its `weight` says it all.
  bool operator()(std::monostate /*m*/) const { return true; }

 private:
  [[nodiscard]] bool all(std::int64_t offset, std::int64_t count) const {
    require_part(plan.fields, offset, count);
    const auto values = plan.fields.begin() + offset;
    return std::all_of(values, values + count, [this](float v) { return v == value; });
  }
};

void drop_unseen_sources(MixPlan& plan, MixEntry& entry) {
  if (entry.term_count == 0) {
    if (entry.label_weight == 1 && std::visit(IsEverywhere{plan, 1}, entry.mask)) {
      entry.partner = entry.own;
    } else if (entry.label_weight == 0 && entry.resample == Resample::none &&
               std::visit(IsEverywhere{plan, 0}, entry.mask)) {
      entry.own = entry.partner;
    }
    return;
  }
  require_part(plan.terms, entry.term_begin, entry.term_count);
  if (std::holds_alternative<OpenMask>(entry.mask)) return;
  const auto terms = std::span(plan.terms)
                         .subspan(static_cast<std::size_t>(entry.term_begin),
                                  static_cast<std::size_t>(entry.term_count));
  const auto unseen = [&](const MixTerm& term) {
    return term.weight == 0 && std::visit(IsEverywhere{plan, 0}, term.mask);
  };
  const auto seen = std::ranges::find_if_not(terms, unseen);
  if (seen == terms.end()) return;
  for (MixTerm& term : terms) {
    if (unseen(term)) term.source = seen->source;
  }
  entry.own = terms[0].source;
  entry.partner = terms.size() > 1 ? terms[1].source : terms[0].source;
}

}  // namespace

MixPlan slice(const MixPlan& plan, std::int64_t begin, std::int64_t count) {
  require_entries(plan, begin, count);
  MixPlan part;
  part.method = plan.method;
  part.draws = plan.draws;
  part.seed = plan.seed;
  part.epoch = plan.epoch;
  part.first = plan.first + begin;
  part.size = plan.size;
  part.base = plan.base;
  part.entries.reserve(static_cast<std::size_t>(count));
  Mover mover(plan, part);
  for (std::int64_t i = begin; i < begin + count; ++i) {
    part.entries.push_back(mover.move(plan.entries[static_cast<std::size_t>(i)]));
  }
  return part;
}

void append(MixPlan& plan, const MixPlan& other) {
  require_fit(plan, other);
  Mover mover(other, plan);
  plan.entries.reserve(plan.entries.size() + other.entries.size());
  const std::size_t count = other.entries.size();  // `other` may be `plan`
  for (std::size_t i = 0; i < count; ++i) plan.entries.push_back(mover.move(other.entries[i]));
}

void replace(MixPlan& plan, std::int64_t at, const MixPlan& other, std::int64_t from) {
  require_fit(plan, other);
  require_entries(plan, at, 1);
  require_entries(other, from, 1);
  plan.entries[static_cast<std::size_t>(at)] =
      Mover(other, plan).move(other.entries[static_cast<std::size_t>(from)]);
}

void relabel(MixPlan& plan, std::span<const std::int64_t> names) {
  const auto rename = [&](Source& source) {
    const std::int64_t image = source.index - plan.base;
    if (image < 0 || image >= std::ssize(names)) {
      fail_argument(
          fmt::format("the plan uses image {}, but there are {} names", image, names.size()));
    }
    source.index = names[static_cast<std::size_t>(image)];
  };
  for (MixEntry& entry : plan.entries) {
    rename(entry.own);
    rename(entry.partner);
  }
  for (MixTerm& term : plan.terms) rename(term.source);
  plan.base = 0;
}

std::vector<std::int64_t> compact_sources(MixPlan& plan) {
  std::vector<std::int64_t> images;
  std::unordered_map<std::int64_t, std::int64_t> number_of;
  const auto renumber = [&](Source& source) {
    const std::int64_t image = source.index - plan.base;
    const auto [number, added] = number_of.try_emplace(image, std::ssize(images));
    if (added) images.push_back(image);
    source.index = number->second;
  };
  for (MixEntry& entry : plan.entries) drop_unseen_sources(plan, entry);
  for (MixEntry& entry : plan.entries) renumber(entry.own);
  for (MixEntry& entry : plan.entries) renumber(entry.partner);
  for (MixTerm& term : plan.terms) renumber(term.source);
  plan.base = 0;
  return images;
}

}  // namespace medley
