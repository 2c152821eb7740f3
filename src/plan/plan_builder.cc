#include "plan/plan_builder.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <span>
#include <variant>

#include "core/parallel.h"
#include "medley/random.h"
#include "plan/pairing.h"

namespace medley {
namespace {

/// The sample at `index`, seen through a random window.
Source draw_window(std::int64_t index, const Augment& augment, RandomStream& random) {
  Source source;
  source.index = index;
  if (augment.pad > 0) {
    const auto positions = static_cast<std::uint32_t>(2 * augment.pad + 1);
    source.dy = static_cast<std::int32_t>(random.below(positions)) - augment.pad;
    source.dx = static_cast<std::int32_t>(random.below(positions)) - augment.pad;
  }
  source.flip = augment.flip > 0 && random.uniform() < augment.flip;
  return source;
}

}  // namespace

PlanBuilder::PlanBuilder(const PlanInputs& inputs)
    : in_(inputs),
      dataset_(inputs.policy.pairing == Pairing::dataset),
      batch_ordinal_(static_cast<std::uint64_t>(inputs.request.first / inputs.request.batch)),
      pairs_(inputs.masks.sources() > 1),
      windows_(inputs.policy.augment.pad > 0 || inputs.policy.augment.flip > 0),
      sources_(static_cast<std::size_t>(inputs.masks.lists_terms() ? inputs.masks.sources() : 0)) {}

MixPlan PlanBuilder::build() {
  partners_ = find_partners();
  find_units();
  choose_mixed();
  MixPlan plan;
  plan.method = in_.policy.method.name();
  plan.seed = in_.seed;
  plan.epoch = in_.request.epoch;
  plan.first = in_.request.first;
  plan.size = in_.size;
  plan.base = dataset_ || !in_.request.order.empty() ? 0 : in_.request.first;
  draw_masks(plan);
  // Copies of one in memory are quicker to make than as many new ones.
  static const MixEntry blank;
  plan.entries.assign(static_cast<std::size_t>(in_.count), blank);
  for (std::int64_t i = 0; i < in_.count; ++i) write_entry(i, plan);
  return plan;
}

std::vector<std::vector<std::int64_t>> PlanBuilder::find_partners() const {
  const MixPolicy& policy = in_.policy;
  const PlanRequest& r = in_.request;
  const std::int32_t others = in_.masks.sources() - 1;
  std::vector<std::vector<std::int64_t>> result(static_cast<std::size_t>(others));
  if (dataset_) {
    const DatasetPairing pairing(r.dataset_size, policy.no_self, policy.classes, in_.classes);
    for (std::int32_t k = 0; k < others; ++k) {
      auto& column = result[static_cast<std::size_t>(k)];
      column.reserve(static_cast<std::size_t>(in_.count));
      for (std::int64_t i = 0; i < in_.count; ++i) {
        column.push_back(pairing.draw(index_of(i), k + 1, in_.seed, r.epoch,
                                      static_cast<std::uint64_t>(r.first + i)));
      }
    }
    return result;
  }
  std::vector<std::int64_t> labels;
  if (policy.classes != ClassRule::any) {
    for (std::int64_t i = 0; i < in_.count; ++i) {
      const std::int64_t at = r.dataset_size > 0 ? index_of(i) : i;
      labels.push_back(r.labels[static_cast<std::size_t>(at)]);
    }
  }
  const BatchPairing rules{policy.pairing, policy.mode == Mode::pair, policy.no_self,
                           policy.classes, labels};
  for (std::int32_t k = 0; k < others; ++k) {
    result[static_cast<std::size_t>(k)] =
        draw_batch_partners(rules, in_.count, k + 1, in_.seed, r.epoch, batch_ordinal_);
  }
  return result;
}

/// The position whose draw a sample shares: its own, the first of its pair, or the batch's first.
std::int64_t PlanBuilder::first_of_unit(std::int64_t position) const {
  if (in_.policy.mode == Mode::sample) return position;
  if (in_.policy.mode == Mode::batch) return 0;
  if (!pairs_) return position - position % 2;
  const std::vector<std::int64_t>& partner = partners_[0];
  const std::int64_t other = partner[static_cast<std::size_t>(position)];
  if (dataset_ || partner[static_cast<std::size_t>(other)] != position) {
    return position - position % 2;  // no mutual partner: neighbors share
  }
  return std::min(position, other);
}

/// Numbers the units in the order of their first samples.
void PlanBuilder::find_units() {
  unit_of_.resize(static_cast<std::size_t>(in_.count));
  if (in_.policy.mode != Mode::batch) first_.reserve(unit_of_.size());
  for (std::int64_t i = 0; i < in_.count; ++i) {
    const std::int64_t first = first_of_unit(i);
    if (first == i) {
      unit_of_[static_cast<std::size_t>(i)] = first_.size();
      first_.push_back(i);
    } else {
      unit_of_[static_cast<std::size_t>(i)] = unit_of_[static_cast<std::size_t>(first)];
    }
  }
}

UnitRandom PlanBuilder::random_of(std::size_t unit) const {
  const auto key = in_.policy.mode == Mode::batch
                       ? batch_ordinal_
                       : static_cast<std::uint64_t>(in_.request.first + first_[unit]);
  return {in_.seed, in_.request.epoch, key};
}

/// A unit of which no sample mixes is not drawn and has no field.
void PlanBuilder::choose_mixed() {
  const MixPolicy& policy = in_.policy;
  std::vector<char> mixes(first_.size());
  for (std::size_t unit = 0; unit < first_.size(); ++unit) {
    mixes[unit] = policy.prob >= 1 || random_of(unit).stream(Purpose::prob).uniform() < policy.prob;
  }
  mixed_.resize(static_cast<std::size_t>(in_.count));
  needed_.resize(first_.size());
  const bool may_be_alone = pairs_ && (policy.no_self || policy.classes == ClassRule::other);
  for (std::int64_t i = 0; i < in_.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t own = dataset_ ? index_of(i) : i;
    const bool alone = may_be_alone && partners_[0][at] == own;
    mixed_[at] = mixes[unit_of_[at]] != 0 && !alone;
    if (mixed_[at] != 0) needed_[unit_of_[at]] = 1;
  }
}

void PlanBuilder::draw_masks(MixPlan& plan) {
  const auto pixels = static_cast<std::size_t>(in_.masks.makes_field() ? in_.size.pixels() : 0);
  const std::int64_t units = std::ssize(first_);
  field_at_.resize(first_.size());
  std::size_t field_values = 0;
  for (std::size_t unit = 0; unit < first_.size(); ++unit) {
    field_at_[unit] = field_values;
    if (needed_[unit] != 0) field_values += pixels;
  }
  plan.fields.resize(field_values);
  static const MaskDraw blank;
  draws_.assign(first_.size(), blank);
  weights_.resize(first_.size() * sources_);
  if (in_.masks.draws_together()) {
    draw_together(plan);
    return take_means(plan);
  }
  const std::int64_t together = in_.masks.draws_per_thread();
  parallel_for((units + together - 1) / together, in_.request.threads, [&](std::int64_t chunk) {
    const std::int64_t end = std::min((chunk + 1) * together, units);
    for (std::int64_t unit = chunk * together; unit < end; ++unit) {
      if (needed_[static_cast<std::size_t>(unit)] != 0) {
        draw_unit(static_cast<std::size_t>(unit), plan);
      }
    }
  });
  take_means(plan);
}

/// Of the masks whose means the method did not say.
void PlanBuilder::take_means(const MixPlan& plan) {
  for (std::size_t unit = 0; unit < draws_.size(); ++unit) {
    MaskDraw& draw = draws_[unit];
    if (!std::isnan(draw.realized) || needed_[unit] == 0) continue;
    MixEntry entry;
    entry.mask = draw.mask;
    draw.realized = mask_mean(plan, entry);
  }
}

void PlanBuilder::draw_together(MixPlan& plan) {
  std::vector<UnitRandom> randoms;
  std::vector<std::size_t> units;
  for (std::size_t unit = 0; unit < first_.size(); ++unit) {
    if (needed_[unit] == 0) continue;
    randoms.push_back(random_of(unit));
    units.push_back(unit);
  }
  if (units.empty()) return;
  std::vector<MaskDraw> draws(units.size());
  in_.masks.draw_many(randoms, plan.fields, draws);
  for (std::size_t i = 0; i < units.size(); ++i) {
    draws_[units[i]] = draws[i];
    set_offset(units[i]);
  }
}

void PlanBuilder::draw_unit(std::size_t unit, MixPlan& plan) {
  const auto pixels = static_cast<std::size_t>(in_.masks.makes_field() ? in_.size.pixels() : 0);
  // In place: copying what was written a moment ago takes longer than drawing it.
  new (&draws_[unit]) MaskDraw(
      in_.masks.draw(random_of(unit), std::span(plan.fields).subspan(field_at_[unit], pixels),
                     std::span(weights_).subspan(unit * sources_, sources_)));
  set_offset(unit);
}

/// Where the values of a drawn field or grid begin.
void PlanBuilder::set_offset(std::size_t unit) {
  const auto offset = static_cast<std::int64_t>(field_at_[unit]);
  Mask& mask = draws_[unit].mask;
  if (auto* field = std::get_if<FieldMask>(&mask)) field->offset = offset;
  if (auto* grid = std::get_if<GridMask>(&mask)) grid->offset = offset;
}

Source PlanBuilder::own_source(std::int64_t position) const {
  if (!windows_) return {index_of(position)};
  RandomStream random(in_.seed, in_.request.epoch,
                      static_cast<std::uint64_t>(in_.request.first + position), Purpose::window);
  return draw_window(index_of(position), in_.policy.augment, random);
}

Source PlanBuilder::partner_source(std::int64_t position, std::size_t k) const {
  const std::int64_t partner = partners_[k][static_cast<std::size_t>(position)];
  // Within a batch the partner is seen as it sees itself.
  if (!dataset_) return own_source(partner);
  if (!windows_) return {partner};
  RandomStream random(in_.seed, in_.request.epoch,
                      static_cast<std::uint64_t>(in_.request.first + position),
                      Purpose::partner_window);
  Source source;
  for (std::size_t round = 0; round <= k; ++round) {
    source = draw_window(partner, in_.policy.augment, random);
  }
  return source;
}

void PlanBuilder::write_entry(std::int64_t position, MixPlan& plan) const {
  const auto at = static_cast<std::size_t>(position);
  const std::size_t unit = unit_of_[at];
  const bool mixed = mixed_[at] != 0;
  MixEntry& entry = plan.entries[at];
  write_sources(position, entry);
  if (mixed) {
    const MaskDraw& draw = draws_[unit];
    entry.mask = draw.mask;
    entry.resample = draw.resample;
    entry.lam = draw.lam;
    entry.label_weight = in_.policy.label == LabelRule::drawn ? draw.lam : draw.realized;
  }
  if (!in_.masks.lists_terms()) return;
  entry.term_begin = std::ssize(plan.terms);
  entry.term_count = in_.masks.sources();
  for (std::size_t k = 0; k < sources_; ++k) {
    const double alone = k == 0 ? 1.0 : 0.0;
    const double weight = mixed ? weights_[unit * sources_ + k] : alone;
    plan.terms.push_back({k == 0 ? entry.own : partner_source(position, k - 1), weight});
  }
}

void PlanBuilder::write_sources(std::int64_t position, MixEntry& entry) const {
  if (windows_) {
    entry.own = own_source(position);
    entry.partner = pairs_ ? partner_source(position, 0) : entry.own;
    return;
  }
  entry.own.index = index_of(position);
  entry.partner.index = entry.own.index;
  if (!pairs_) return;
  const std::int64_t partner = partners_[0][static_cast<std::size_t>(position)];
  entry.partner.index = dataset_ ? partner : index_of(partner);
}

}  // namespace medley
